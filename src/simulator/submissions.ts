import { messageOctets, type PduOf } from '../smpp/pdu.ts'

export type SubmitPdu = PduOf<'submit_sm' | 'data_sm'>

export interface Submission {
  readonly messageId: string
  /** As on the wire. */
  readonly source: string
  readonly destination: string
  /** short_message or message_payload, user data header included. */
  readonly payload: Buffer
  readonly receivedAt: Date
}

const MOST_SUBMISSIONS = 1_000_000

/** The accepted submits, oldest first; when there are more than `limit`, the oldest tenth goes. */
export class Submissions {
  readonly list: Submission[] = []
  readonly #limit: number

  constructor(limit: number = MOST_SUBMISSIONS) {
    this.#limit = limit
  }

  add(pdu: SubmitPdu, messageId: string, nowMs: number): void {
    if (this.list.length >= this.#limit) this.list.splice(0, Math.ceil(this.#limit / 10))
    this.list.push({
      messageId,
      source: pdu.source_addr,
      destination: pdu.destination_addr,
      payload: Buffer.from(messageOctets(pdu)),
      receivedAt: new Date(nowMs),
    })
  }
}
