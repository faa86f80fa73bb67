/**
 * A carrier that behaves as it should until a scenario has it do otherwise, command by command, and that writes any
 * octets.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { BindPdu, Pdu, PduInput, PduOf } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { RawPeer } from '../smpp/raw-peer.ts'
import { eventually } from '../support/service.ts'

export type SubmitPdu = PduOf<'submit_sm'>
export type DeliverFields = Omit<PduInput<'deliver_sm'>, 'command' | 'sequence' | 'status'>
/** `times`: how often it was asked before, from 0. */
export type Conduct<P extends Pdu = Pdu> = (pdu: P, peer: RawPeer, times: number) => void

interface Heard {
  readonly pdu: Pdu
  readonly peer: RawPeer
}

/** Ours begin here, so that those a scenario chooses are others. */
const FIRST_SEQUENCE = 1_000_000

export class HostileSmsc implements AsyncDisposable {
  /** Everything that came, in order. */
  readonly heard: Heard[] = []
  /** The message_id of each submit_sm that was accepted, in order. */
  readonly ids: string[] = []
  readonly #server: Server
  readonly #conducts = new Map<string, { conduct: Conduct; times: number }>()
  readonly #peers = new Set<RawPeer>()
  readonly #bound: RawPeer[] = []
  readonly #awaited = new Map<number, (pdu: Pdu) => void>()
  #sequence = FIRST_SEQUENCE

  constructor() {
    this.#server = createServer((socket: Socket) => {
      const peer = new RawPeer(socket)
      this.#peers.add(peer)
      socket.on('close', () => {
        this.#peers.delete(peer)
        const index = this.#bound.indexOf(peer)
        if (index >= 0) this.#bound.splice(index, 1)
      })
      void this.#listen(peer)
    })
  }

  static async start(): Promise<HostileSmsc> {
    const smsc = new HostileSmsc()
    smsc.#server.listen(0, '127.0.0.1')
    await once(smsc.#server, 'listening')
    return smsc
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  get binds(): BindPdu[] {
    return this.heard.flatMap(({ pdu }) => (isBind(pdu) ? [pdu] : []))
  }

  get submits(): SubmitPdu[] {
    return this.heard.flatMap(({ pdu }) => (pdu.command === 'submit_sm' ? [pdu] : []))
  }

  /** What came over one connection, as `[command, status, sequence]`. */
  heads(peer: RawPeer): [string, number, number][] {
    const own = this.heard.filter((heard) => heard.peer === peer)
    return own.map(({ pdu }) => [pdu.command, pdu.status, pdu.sequence])
  }

  /** From now on it does this with the command; `bind` stands for every kind of bind. */
  on(command: 'submit_sm', conduct: Conduct<SubmitPdu>): void
  on(command: 'bind', conduct: Conduct<BindPdu>): void
  on(command: 'enquire_link' | 'unbind', conduct: Conduct): void
  on(command: string, conduct: Conduct<never>): void {
    this.#conducts.set(command, { conduct: conduct as Conduct, times: 0 })
  }

  behave(): void {
    this.#conducts.clear()
  }

  /** The session that was bound last and still is. */
  bound(): Promise<RawPeer> {
    return eventually(() => this.#bound.at(-1))
  }

  get boundNow(): readonly RawPeer[] {
    return this.#bound
  }

  /** As a carrier should: binds, accepts, answers. */
  answer(pdu: Pdu, peer: RawPeer): void {
    const { sequence } = pdu
    if (pdu.command === 'submit_sm') this.accept(pdu, peer)
    else if (pdu.command === 'enquire_link') peer.write({ command: 'enquire_link_resp', sequence })
    else if (pdu.command === 'unbind') peer.write({ command: 'unbind_resp', sequence })
    else if (isBind(pdu)) {
      peer.write({ command: `${pdu.command}_resp`, sequence, system_id: 'hostile' })
      this.#bound.push(peer)
    }
  }

  /** Ids hold what has another place in the GSM alphabet, and what is no digit. */
  accept(pdu: SubmitPdu, peer: RawPeer, messageId = `Id_${this.ids.length + 1}$f`): void {
    this.ids.push(messageId)
    peer.write({ command: 'submit_sm_resp', sequence: pdu.sequence, message_id: messageId })
  }

  refuse(pdu: SubmitPdu, peer: RawPeer, status: number): void {
    peer.write({ command: 'submit_sm_resp', sequence: pdu.sequence, status })
  }

  refuseBind(pdu: BindPdu, peer: RawPeer, status: number): void {
    peer.write({ command: `${pdu.command}_resp`, sequence: pdu.sequence, status })
  }

  /** Sends these octets, the sequence number set in them, and gives what is answered under it. */
  requestOctets(octets: Buffer, peer: RawPeer): Promise<Pdu> {
    this.#sequence += 1
    const numbered = Buffer.from(octets)
    numbered.writeUInt32BE(this.#sequence, 12)
    const { promise, resolve, reject } = Promise.withResolvers<Pdu>()
    this.#awaited.set(this.#sequence, resolve)
    void peer.closed.then(() => reject(new Error('closed without an answer')))
    peer.write(numbered)
    return promise
  }

  async request(input: PduInput, peer?: RawPeer): Promise<Pdu> {
    return this.requestOctets(encodePdu(input), peer ?? (await this.bound()))
  }

  /** Sends a deliver_sm and gives the status of its deliver_sm_resp. */
  async deliver(fields: DeliverFields, peer?: RawPeer): Promise<number> {
    return (await this.request({ command: 'deliver_sm', ...fields }, peer)).status
  }

  /** Sends a receipt in the text form, other fields if given, and gives the status of its answer. */
  receipt(id: string, stat: string, more: DeliverFields = {}, peer?: RawPeer): Promise<number> {
    return this.deliver({ ...receiptOf(id, stat), ...more }, peer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#peers) socket.destroy()
    await new Promise((closed) => this.#server.close(closed))
  }

  async #listen(peer: RawPeer): Promise<void> {
    for (;;) {
      const pdu = await peer.next().catch(() => null)
      if (pdu === null) return
      this.heard.push({ pdu, peer })
      this.#handle(pdu, peer)
    }
  }

  #handle(pdu: Pdu, peer: RawPeer): void {
    const awaited = this.#awaited.get(pdu.sequence)
    if (awaited !== undefined && (pdu.commandId & 0x80000000) !== 0) {
      this.#awaited.delete(pdu.sequence)
      awaited(pdu)
      return
    }
    const own = this.#conducts.get(isBind(pdu) ? 'bind' : pdu.command)
    if (own === undefined) {
      this.answer(pdu, peer)
      return
    }
    own.times += 1
    own.conduct(pdu, peer, own.times - 1)
  }
}

function isBind(pdu: Pdu): pdu is BindPdu {
  return pdu.command.startsWith('bind_') && !pdu.command.endsWith('_resp')
}

/** The text of a receipt (SMPP 3.4 Appendix B). */
function receiptText(id: string, stat: string): Buffer {
  const dates = 'submit date:2601010000 done date:2601010001'
  return Buffer.from(`id:${id} sub:001 dlvrd:001 ${dates} stat:${stat} err:000 text:`, 'latin1')
}

/** One that is too long for short_message goes as message_payload. */
export function receiptOf(id: string, stat: string): DeliverFields {
  const text = receiptText(id, stat)
  return {
    esm_class: 4,
    source_addr: '15551230000',
    destination_addr: 'Aldis',
    ...(text.length > 254 ? { tlvs: { message_payload: text } } : { short_message: text }),
  }
}

/** A PDU of these octets, whose command_length may lie. */
export function frame(
  commandId: number,
  body: Buffer = Buffer.alloc(0),
  { length = 16 + body.length, status = 0, sequence = 0 } = {},
): Buffer {
  const header = Buffer.alloc(16)
  for (const [index, value] of [length, commandId, status, sequence].entries())
    header.writeUInt32BE(value, 4 * index)
  return Buffer.concat([header, body])
}

/** A deliver_sm with octets behind it, or changed by `spoil`; command_length is set to what it has become. */
export function spoiltDeliver(fields: DeliverFields, spoil: (octets: Buffer) => Buffer): Buffer {
  const spoilt = spoil(encodePdu({ command: 'deliver_sm', ...fields }))
  spoilt.writeUInt32BE(spoilt.length, 0)
  return spoilt
}

/** One TLV as octets; `length` may lie. */
export function tlv(tag: number, value: Buffer, length: number = value.length): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(tag, 0)
  head.writeUInt16BE(length, 2)
  return Buffer.concat([head, value])
}

export const { ESME_ROK } = STATUSES
