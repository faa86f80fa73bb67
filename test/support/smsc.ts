/**
 * A carrier whose every answer a test decides, command by command, and that writes any octets. By default it behaves as it
 * should: it binds, accepts and answers.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { BindPdu, Pdu, PduInput, PduOf } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { RawPeer } from '../smpp/raw-peer.ts'
import { eventually } from './service.ts'

export const { ESME_ROK } = STATUSES

export type SubmitPdu = PduOf<'submit_sm'>
export type DeliverFields = Omit<PduInput<'deliver_sm'>, 'command' | 'sequence' | 'status'>
/** What it does with a PDU; `times`: how often it was asked before, from 0. */
export type Conduct<P extends Pdu = Pdu> = (pdu: P, peer: RawPeer, times: number) => void

export interface SmscOptions {
  readonly port?: number
  /** As the listener of Node takes it. */
  readonly tls?: TlsOptions | undefined
  /** The message_id of the accepted submit with this index. Default: `m-<index>` among all submits. */
  readonly idOf?: (accepted: number) => string
}

interface Heard {
  readonly pdu: Pdu
  readonly peer: RawPeer
}

/** Ours begin here, so that those a test chooses are others. */
const FIRST_SEQUENCE = 1_000_000

export class Smsc implements AsyncDisposable {
  /** Everything that came, in order. */
  readonly heard: Heard[] = []
  readonly binds: BindPdu[] = []
  /** When each bind came: `performance.now()`. */
  readonly bindTimesMs: number[] = []
  /** Every submit_sm, in order, whatever became of it. */
  readonly submits: SubmitPdu[] = []
  /** The message_id of each submit_sm that was accepted, in order. */
  readonly ids: string[] = []
  /** Most sessions that were bound at once so far. */
  mostBound = 0
  readonly #idOf: (accepted: number) => string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #conducts = new Map<string, { conduct: Conduct; times: number }>()
  readonly #bound: { peer: RawPeer; receives: boolean }[] = []
  readonly #awaited = new Map<number, (pdu: Pdu) => void>()
  #port = 0
  #sequence = FIRST_SEQUENCE

  constructor({ tls, idOf = () => `m-${this.submits.length - 1}` }: SmscOptions) {
    this.#idOf = idOf
    const serve = (socket: Socket) => void this.#serve(socket)
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
    // Below TLS: also those that are still in their handshake.
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(options: SmscOptions = {}): Promise<Smsc> {
    const smsc = new Smsc(options)
    smsc.#server.listen(options.port ?? 0, '127.0.0.1')
    await once(smsc.#server, 'listening')
    smsc.#port = (smsc.#server.address() as { port: number }).port
    return smsc
  }

  /** Also once it listens no more. */
  get port(): number {
    return this.#port
  }

  get boundNow(): readonly RawPeer[] {
    return this.#bound.map(({ peer }) => peer)
  }

  get bindsNow(): number {
    return this.#bound.length
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

  /** From now on binds get this status; null: no answer. */
  answerBinds(decide: (pdu: BindPdu) => number | null): void {
    this.on('bind', (pdu, peer) => {
      const status = decide(pdu)
      if (status === ESME_ROK) this.answer(pdu, peer)
      else if (status !== null) peer.respond(pdu, status)
    })
  }

  /** From now on submits are answered by this; `index` counts all of them from 0. */
  answerSubmits(answer: (pdu: SubmitPdu, link: RawPeer, index: number) => void): void {
    this.on('submit_sm', (pdu, peer) => answer(pdu, peer, this.submits.length - 1))
  }

  behave(): void {
    this.#conducts.clear()
  }

  /** The session that can receive, of several the one bound last, once there is one. */
  bound(): Promise<RawPeer> {
    return eventually(() => this.#bound.findLast(({ receives }) => receives)?.peer)
  }

  /** As a carrier should: binds, accepts, answers. */
  answer(pdu: Pdu, peer: RawPeer): void {
    if (pdu.command === 'submit_sm') this.accept(pdu, peer)
    else if (pdu.command === 'enquire_link' || pdu.command === 'unbind') peer.respond(pdu)
    else if (isBind(pdu)) {
      peer.respond(pdu, ESME_ROK, { system_id: 'smsc' })
      this.#bound.push({ peer, receives: pdu.command !== 'bind_transmitter' })
      this.mostBound = Math.max(this.mostBound, this.#bound.length)
    }
  }

  accept(pdu: SubmitPdu, peer: RawPeer, messageId = this.#idOf(this.ids.length)): void {
    this.ids.push(messageId)
    accept(pdu, peer, messageId)
  }

  /**
   * Sends these octets, the sequence number set in them, and returns what is answered under it. Here and in what is built on it,
   * a connection that closes first is an error for whoever awaits the answer, and for nobody else.
   */
  requestOctets(octets: Buffer, peer: RawPeer): Promise<Pdu> {
    this.#sequence += 1
    const numbered = Buffer.from(octets)
    numbered.writeUInt32BE(this.#sequence, 12)
    const { promise, resolve, reject } = Promise.withResolvers<Pdu>()
    this.#awaited.set(this.#sequence, resolve)
    void peer.closed.then(() => reject(new Error('closed without an answer')))
    peer.write(numbered)
    return failingForAwaiters(promise)
  }

  request(input: PduInput, peer?: RawPeer): Promise<Pdu> {
    const sent = async () => this.requestOctets(encodePdu(input), peer ?? (await this.bound()))
    return failingForAwaiters(sent())
  }

  /** Sends a deliver_sm and returns the status of its deliver_sm_resp. */
  deliver(fields: DeliverFields, peer?: RawPeer): Promise<number> {
    const answered = this.request({ command: 'deliver_sm', ...fields }, peer)
    return failingForAwaiters(answered.then(({ status }) => status))
  }

  /** Sends a receipt in the text form, with these fields changed, and returns the status of its answer. */
  receipt(id: string, stat: string, more: DeliverFields = {}, peer?: RawPeer): Promise<number> {
    return this.deliver({ ...receiptOf(id, stat), ...more }, peer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((closed) => this.#server.close(closed))
  }

  async #serve(socket: Socket): Promise<void> {
    const peer = new RawPeer(socket)
    void peer.closed.then(() => {
      const index = this.#bound.findIndex((bound) => bound.peer === peer)
      if (index >= 0) this.#bound.splice(index, 1)
    })
    for (;;) {
      const pdu = await peer.next().catch(() => null)
      if (pdu === null) return
      this.#hear(pdu, peer)
    }
  }

  #hear(pdu: Pdu, peer: RawPeer): void {
    this.heard.push({ pdu, peer })
    if (pdu.command === 'submit_sm') this.submits.push(pdu)
    if (isBind(pdu)) {
      this.binds.push(pdu)
      this.bindTimesMs.push(performance.now())
    }
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

export function startSmsc(port = 0, tls?: TlsOptions): Promise<Smsc> {
  return Smsc.start({ port, tls })
}

export function accept(pdu: SubmitPdu, link: RawPeer, messageId: string): void {
  link.respond(pdu, ESME_ROK, { message_id: messageId })
}

/** The same promise. Its rejection ends no run of tests while nobody awaits it yet, or after the test has failed. */
function failingForAwaiters<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

function isBind(pdu: Pdu): pdu is BindPdu {
  return pdu.command.startsWith('bind_') && !pdu.command.endsWith('_resp')
}

/** The fields of a receipt (SMPP 3.4 Appendix B). A text that is too long for short_message goes as message_payload. */
export function receiptOf(id: string, stat: string): DeliverFields {
  const dates = 'submit date:2601010000 done date:2601010001'
  const text = Buffer.from(`id:${id} sub:001 dlvrd:001 ${dates} stat:${stat} err:000 text:`, 'latin1')
  return {
    esm_class: 4,
    source_addr: '15551230000',
    destination_addr: 'Aldis',
    ...(text.length > 254 ? { tlvs: { message_payload: text } } : { short_message: text }),
  }
}
