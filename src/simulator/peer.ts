import type { Connection, ConnectionHandlers } from '../smpp/connection.ts'
import type { BindPdu, RequestPdu, ResponsePdu } from '../smpp/pdu.ts'
import type { CloseReason } from '../smpp/session-handlers.ts'
import { STATUSES } from '../smpp/statuses.ts'
import type { Delivery, Mailbox } from './mailbox.ts'
import type { Bind } from './options.ts'
import type { SubmitPdu } from './submissions.ts'

/** What a connection needs of its simulator. */
export interface Smsc {
  /** True: the request was put aside, see Faults.stopReading. */
  holds(resume: () => void): boolean
  /** The command_status that answers a bind; null for no answer at all. */
  judgeBind(pdu: BindPdu): number | null
  isHandset(systemId: string): boolean
  mailboxOf(systemId: string): Mailbox
  submit(pdu: SubmitPdu, connection: Connection<Delivery>, mailbox: Mailbox): void
  submitFromHandset(pdu: SubmitPdu, connection: Connection<Delivery>): void
  bound(bind: Bind): void
  unbound(bind: Bind, reason: CloseReason): void
}

/** One connection of an ESME or a handset. */
export class Peer implements ConnectionHandlers<Delivery> {
  readonly #smsc: Smsc
  #bind: Bind | null = null
  #mailbox: Mailbox | null = null

  constructor(smsc: Smsc) {
    this.#smsc = smsc
  }

  onBind(pdu: BindPdu, connection: Connection<Delivery>): void {
    if (this.#smsc.holds(() => isOpen(connection) && this.onBind(pdu, connection))) return
    const status = this.#smsc.judgeBind(pdu)
    if (status === null) return
    if (status !== STATUSES.ESME_ROK) {
      connection.respond(pdu, status)
      return
    }
    if (!connection.respond(pdu, status, BIND_ANSWER)) return
    const isHandset = this.#smsc.isHandset(pdu.system_id)
    const bind = {
      systemId: pdu.system_id,
      mode: pdu.command,
      isHandset,
      remoteAddress: connection.remoteAddress,
    }
    this.#bind = bind
    this.#smsc.bound(bind)
    if (isHandset) return
    this.#mailbox = this.#smsc.mailboxOf(pdu.system_id)
    if (pdu.command !== 'bind_transmitter') this.#mailbox.attach(connection)
  }

  onRequest(pdu: RequestPdu, connection: Connection<Delivery>): void {
    if (this.#smsc.holds(() => isOpen(connection) && this.onRequest(pdu, connection))) return
    if (pdu.command !== 'submit_sm' && pdu.command !== 'data_sm') {
      connection.respond(pdu, UNSUPPORTED.get(pdu.command) ?? STATUSES.ESME_RINVCMDID)
    } else if (this.#mailbox === null) {
      this.#smsc.submitFromHandset(pdu, connection)
    } else {
      this.#smsc.submit(pdu, connection, this.#mailbox)
    }
  }

  onResponse(delivery: Delivery, pdu: ResponsePdu): void {
    this.#mailbox?.answered(delivery, pdu.status)
  }

  onTimeout(delivery: Delivery): void {
    this.#mailbox?.timedOut(delivery)
  }

  onClose(reason: CloseReason, unanswered: Delivery[], connection: Connection<Delivery>): void {
    this.#mailbox?.detach(connection, unanswered)
    if (this.#bind !== null) this.#smsc.unbound(this.#bind, reason)
  }
}

/** What was put aside for a connection that ended meanwhile was never read. */
function isOpen(connection: Connection<Delivery>): boolean {
  return connection.state !== 'CLOSED'
}

/** sc_interface_version: SMPP 3.4 (§5.3.2.25). */
const BIND_ANSWER = { system_id: 'ALDIS-SIM', tlvs: { sc_interface_version: 0x34 } } as const

/** This SMSC keeps no messages that could be queried, cancelled or replaced. */
const UNSUPPORTED: ReadonlyMap<string, number> = new Map([
  ['query_sm', STATUSES.ESME_RQUERYFAIL],
  ['cancel_sm', STATUSES.ESME_RCANCELFAIL],
  ['replace_sm', STATUSES.ESME_RREPLACEFAIL],
])
