/**
 * A carrier whose every answer a test decides: our own SMSC side, without the simulator's table of outcomes.
 */
import type { TlsOptions } from 'node:tls'
import { type Connection, listen } from '../../src/smpp/connection.ts'
import type { BindPdu, PduInput, PduOf, RequestPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually } from './service.ts'

type Submit = PduOf<'submit_sm'>

export interface Smsc extends AsyncDisposable {
  readonly port: number
  /** Every bind request, in order. */
  readonly binds: readonly BindPdu[]
  /** When each came: `performance.now()`. */
  readonly bindTimesMs: readonly number[]
  /** Sessions bound now, and most at once so far. */
  readonly bindsNow: number
  readonly mostBound: number
  /** Every submit_sm, in order, whatever became of it. */
  readonly submits: readonly Submit[]
  /** Decides on binds; default ESME_ROK. null: no answer. */
  answerBinds(decide: (pdu: BindPdu) => number | null): void
  /** Answers submits; `index` counts them from 0. Default: ESME_ROK with the id `m-<index>`. */
  answerSubmits(answer: (pdu: Submit, link: Connection, index: number) => void): void
  /** The session that can receive, once there is one. */
  bound(): Promise<Connection>
  /** Sends a deliver_sm and gives the status of its answer. */
  deliver(fields: Omit<PduInput<'deliver_sm'>, 'command'>): Promise<number>
  /** Sends a receipt in the text form and gives the status of its answer. */
  receipt(id: string, state: string, more?: Omit<PduInput<'deliver_sm'>, 'command'>): Promise<number>
}

export function accept(pdu: RequestPdu, link: Connection, messageId: string): void {
  link.respond(pdu, STATUSES.ESME_ROK, { message_id: messageId })
}

/** `tls`: as the listener of Node takes it. */
export async function startSmsc(port = 0, tls?: TlsOptions): Promise<Smsc> {
  const binds: BindPdu[] = []
  const bindTimesMs: number[] = []
  const submits: Submit[] = []
  const receivers: Connection[] = []
  const bound = new Set<Connection>()
  let mostBound = 0
  let decide: (pdu: BindPdu) => number | null = () => STATUSES.ESME_ROK
  let answer: (pdu: Submit, link: Connection, index: number) => void = (pdu, link, index) =>
    accept(pdu, link, `m-${index}`)
  const options = { port, tickMs: 10, windowSize: 1_000, unbindTimeoutMs: 100, ...(tls && { tls }) }
  const server = await listen(options, () => ({
    onBind(pdu, link) {
      binds.push(pdu)
      bindTimesMs.push(performance.now())
      const status = decide(pdu)
      if (status === null || !link.respond(pdu, status, { system_id: 'smsc' })) return
      if (status === STATUSES.ESME_ROK) bound.add(link)
      mostBound = Math.max(mostBound, bound.size)
      if (status === STATUSES.ESME_ROK && pdu.command !== 'bind_transmitter') receivers.push(link)
    },
    onRequest(pdu, link) {
      if (pdu.command !== 'submit_sm') {
        link.respond(pdu, STATUSES.ESME_RINVCMDID)
        return
      }
      submits.push(pdu)
      answer(pdu, link, submits.length - 1)
    },
    onClose(_reason, _tokens, link) {
      bound.delete(link)
      const index = receivers.indexOf(link)
      if (index >= 0) receivers.splice(index, 1)
    },
  }))
  const receiver = () => eventually(() => receivers[0])
  const smsc: Smsc = {
    port: server.port,
    binds,
    bindTimesMs,
    submits,
    answerBinds: (next) => {
      decide = next
    },
    answerSubmits: (next) => {
      answer = next
    },
    bound: receiver,
    get bindsNow() {
      return bound.size
    },
    get mostBound() {
      return mostBound
    },
    async deliver(fields) {
      const link = await receiver()
      return (await link.request({ command: 'deliver_sm', ...fields })).status
    },
    receipt: (id, state, more = {}) =>
      smsc.deliver({
        esm_class: 4,
        source_addr: '15551230000',
        destination_addr: 'Aldis',
        short_message: Buffer.from(
          `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010001 stat:${state} err:000 text:`,
        ),
        ...more,
      }),
    [Symbol.asyncDispose]: () => server.close(),
  }
  return smsc
}
