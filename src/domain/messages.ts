import type { Status } from './message-states.ts'

/** An outbound (MT) message as stored. Times are Dates; createdAt is the millisecond inside msgId. */
export interface Message {
  readonly planId: number
  readonly msgId: string
  readonly status: Status
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly callbackUrl: string | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly errorCode: string
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly sentAt: Date | null
  readonly updatedAt: Date
}

/** What a caller asks to send, after validation and authorisation. */
export interface Draft {
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly callbackUrl: string | null
}
