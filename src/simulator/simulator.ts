import type { Connection } from '../smpp/connection.ts'
import { encodePdu } from '../smpp/encoding.ts'
import { listen, type SmscServer } from '../smpp/listener.ts'
import type { BindPdu, PduInput } from '../smpp/pdu.ts'
import type { CloseReason } from '../smpp/session-handlers.ts'
import { STATUSES } from '../smpp/statuses.ts'
import { type Counters, type SimulatorStats, zeroCounters } from './counters.ts'
import { DelayQueue } from './delay-queue.ts'
import { Faults } from './faults.ts'
import { deliverFromSubmit, type InboundMessage, inboundMessageFields } from './inbound-messages.ts'
import { Intake } from './intake.ts'
import { type Delivery, Mailbox } from './mailbox.ts'
import { type Bind, type SimulatorOptions, type SimulatorSettings, simulatorSettings } from './options.ts'
import { Peer, type Smsc } from './peer.ts'
import type { Submission, SubmitPdu } from './submissions.ts'

/**
 * An SMSC over TCP for development, tests and benchmarks: accepts what ESMEs submit, sends receipts as the table of
 * outcomes.ts says, and originates MO messages. What it does is described in docs/simulator.md.
 *
 *   const simulator = await startSimulator({ port: 0, receiptDelayMs: 0 })
 *   ... an ESME binds to simulator.port ...
 *   await simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'hello' })
 *   await simulator.stop()
 *
 * @throws (rejects) the listener's error, such as EADDRINUSE; RangeError for options that cannot be met.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const simulator = new Simulator(simulatorSettings(options, Date.now()))
  await simulator.listen()
  return simulator
}

/** Each system_id has a mailbox for good; an endless supply of them is refused. */
const MAILBOX_LIMIT = 1_000
/** Requests put aside by Faults.stopReading, of all connections; more are never answered. */
const HELD_REQUEST_LIMIT = 100_000

export class Simulator implements Smsc {
  readonly faults: Faults
  readonly #settings: SimulatorSettings
  readonly #counters: Counters = zeroCounters()
  readonly #delays = new DelayQueue()
  readonly #intake: Intake
  /** In the order of first binds. */
  readonly #mailboxes = new Map<string, Mailbox>()
  readonly #binds = new Set<Bind>()
  #heldRequests: (() => void)[] = []
  #server: SmscServer<Delivery> | null = null
  #stopping: Promise<void> | null = null

  /** Made by `startSimulator`. */
  constructor(settings: SimulatorSettings) {
    this.#settings = settings
    this.faults = new Faults({
      receipts: () => this.#intake.releaseReceipts(),
      reading: () => this.#resumeRequests(),
    })
    this.#intake = new Intake(settings, this.faults, this.#counters, this.#delays)
  }

  /** Called once, by `startSimulator`. */
  async listen(): Promise<void> {
    const { port, host, deliverWindow, deliverTimeoutMs, inboundLimit, enquireLinkIntervalMs } =
      this.#settings
    this.#server = await listen<Delivery>(
      {
        port,
        host,
        windowSize: deliverWindow,
        responseTimeoutMs: deliverTimeoutMs,
        inboundLimit,
        enquireLinkIntervalMs,
        unbindTimeoutMs: this.#settings.stopTimeoutMs,
      },
      () => new Peer(this),
    )
  }

  get port(): number {
    return this.#server?.port ?? this.#settings.port
  }

  get binds(): readonly Bind[] {
    return [...this.#binds]
  }

  /** A snapshot. */
  get stats(): SimulatorStats {
    let kept = 0
    for (const mailbox of this.#mailboxes.values()) kept += mailbox.kept
    return { ...this.#counters, binds: this.#binds.size, kept, scheduled: this.#intake.scheduled }
  }

  /** The accepted submits, oldest first: empty unless `recordSubmissions`. */
  get submissions(): readonly Submission[] {
    return this.#intake.submissions?.list ?? []
  }

  /**
   * Sends an MO message to the ESMEs of `systemId`; without one, to those that bound first of the ones that can
   * receive now. Resolves when every part was answered with ESME_ROK, which may be after the next bind.
   * @throws (rejects) RangeError for a field that does not fit or a text of more than 255 parts; Error when no ESME ever
   * bound and none was named, and when a part was given up.
   */
  async sendInbound(message: InboundMessage & { readonly systemId?: string }): Promise<void> {
    const reference = Math.floor(this.#settings.random() * 256)
    const pdus = inboundMessageFields(message, reference).map((fields) => toDeliver(fields))
    for (const pdu of pdus) encodePdu(pdu)
    const mailbox = message.systemId === undefined ? this.#inboundMailbox() : this.mailboxOf(message.systemId)
    if (mailbox === undefined)
      throw new Error('No ESME has bound yet: give the systemId to keep the message for')
    await Promise.all(pdus.map((pdu) => acknowledged(mailbox, pdu)))
  }

  /** Drops every connection without an unbind, what is unwritten included. */
  dropConnections(): void {
    for (const connection of this.#server?.connections ?? []) connection.destroy()
  }

  /** Unbinds every session, each within twice stopTimeoutMs, and stops listening; what is kept is given up. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.faults.clear()
    this.#delays.clear()
    const server = this.#server
    if (server !== null) {
      await Promise.all([...server.connections].map((connection) => connection.unbind()))
      await server.close()
    }
    this.#delays.clear()
    for (const mailbox of this.#mailboxes.values()) mailbox.close()
  }

  /** For the connections, as everything below. */
  holds(resume: () => void): boolean {
    if (!this.faults.stopReading) return false
    if (this.#heldRequests.length < HELD_REQUEST_LIMIT) this.#heldRequests.push(resume)
    return true
  }

  judgeBind(pdu: BindPdu): number | null {
    if (this.faults.ignoreBinds) return null
    if (this.faults.refuseBindsWith !== null) return this.faults.refuseBindsWith
    if (this.#stopping !== null) return STATUSES.ESME_RBINDFAIL
    if (this.isHandset(pdu.system_id)) return STATUSES.ESME_ROK
    const { credentials } = this.#settings
    if (credentials.length > 0) {
      const credential = credentials.find(({ systemId }) => systemId === pdu.system_id)
      if (credential === undefined) return STATUSES.ESME_RINVSYSID
      if (credential.password !== undefined && credential.password !== pdu.password) {
        return STATUSES.ESME_RINVPASWD
      }
    }
    const isFull = this.#mailboxes.size >= MAILBOX_LIMIT && !this.#mailboxes.has(pdu.system_id)
    return isFull ? STATUSES.ESME_RBINDFAIL : STATUSES.ESME_ROK
  }

  isHandset(systemId: string): boolean {
    return systemId === this.#settings.handsetSystemId
  }

  mailboxOf(systemId: string): Mailbox {
    let mailbox = this.#mailboxes.get(systemId)
    if (mailbox === undefined) {
      mailbox = new Mailbox(systemId, this.#settings, this.#counters, this.#delays)
      this.#mailboxes.set(systemId, mailbox)
    }
    return mailbox
  }

  submit(pdu: SubmitPdu, connection: Connection<Delivery>, mailbox: Mailbox): void {
    this.#intake.submit(pdu, connection, mailbox)
  }

  /** Passes a handset's message to an ESME as it is. If no ESME can receive, the message is refused, not kept. */
  submitFromHandset(pdu: SubmitPdu, connection: Connection<Delivery>): void {
    const mailbox = this.#inboundMailbox()
    if (mailbox === undefined || !mailbox.hasReceiver) {
      connection.respond(pdu, STATUSES.ESME_RDELIVERYFAILURE)
      return
    }
    const deliver = deliverFromSubmit(pdu)
    if (deliver === null) {
      connection.respond(pdu, STATUSES.ESME_RINVDSTADR)
      return
    }
    connection.respond(pdu, STATUSES.ESME_ROK, { message_id: this.#intake.nextId().submitted })
    mailbox.post({ kind: 'inbound', pdu: deliver, attempts: 0, onSent: null, onAnswered: null })
  }

  bound(bind: Bind): void {
    this.#binds.add(bind)
    this.#settings.onBind?.(bind)
  }

  unbound(bind: Bind, reason: CloseReason): void {
    this.#binds.delete(bind)
    this.#settings.onUnbind?.(bind, reason)
  }

  /** The first that can receive now, else the first of all. */
  #inboundMailbox(): Mailbox | undefined {
    const mailboxes = [...this.#mailboxes.values()]
    return mailboxes.find((mailbox) => mailbox.hasReceiver) ?? mailboxes[0]
  }

  #resumeRequests(): void {
    const held = this.#heldRequests
    this.#heldRequests = []
    for (const resume of held) resume()
  }
}

function toDeliver(fields: Omit<PduInput<'deliver_sm'>, 'command'>): PduInput<'deliver_sm'> {
  return { command: 'deliver_sm', ...fields }
}

function acknowledged(mailbox: Mailbox, pdu: PduInput<'deliver_sm'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAnswered = (done: boolean) => {
      if (done) resolve()
      else reject(new Error('The ESME did not take the message'))
    }
    mailbox.post({ kind: 'inbound', pdu, attempts: 0, onSent: null, onAnswered })
  })
}
