import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Child, ChildHooks, Program } from '../children.ts'
import { script } from '../children.ts'
import type { Built, ToolName } from './build.ts'
import {
  type CarrierEntry,
  type LoadEntry,
  parseCarrierLedger,
  parseLoadLedger,
  parseReceiverLedger,
  type ReceiverEntry,
} from './ledgers.ts'
import type { ReceiverConfig } from './receiver.ts'
import { formsFile, MESSAGE_LIMIT } from './requests.ts'

/** Load generator, carrier and receiver as the bench drives them: written in C where they can be built, else for Node. */

export interface LoadReport {
  readonly sent: number
  readonly answered: number
  readonly accepted: number
  readonly reopened: number
}

export interface ReceiverReport {
  /** Messages whose SENT and DELIVERED both arrived. */
  readonly completed: number
  /** Webhooks counted: each message's first SENT and first DELIVERED. */
  readonly webhooks: number
  /** Webhooks that were repeated, out of order, or not recognised. */
  readonly repeated: number
  readonly disordered: number
  readonly unexpected: number
  readonly connections: number
  /** When the first and the last webhook came; 0 when none did. */
  readonly firstAtMs: number
  readonly lastAtMs: number
}

export interface CarrierStats {
  readonly accepted: number
  readonly throttled: number
  readonly receiptsSent: number
  readonly receiptsAcknowledged: number
  readonly receiptsRefused: number
  readonly receiptsWaiting: number
  readonly binds: number
}

export interface CarrierOptions {
  /** The least and the most, in milliseconds. */
  readonly receiptDelayMs: readonly [number, number]
  /** The most unanswered receipts. */
  readonly deliverWindow: number
  /** Receipts held back, of which a random one is sent for each message. */
  readonly receiptsOutstanding: number
  /** The most submits accepted in any second. */
  readonly throughput: number | null
}

/** Starts a process of the run, which stops it in the end. */
export type Spawn = <Ready>(
  name: string,
  program: Program,
  hooks?: Pick<ChildHooks, 'onNews'>,
) => Child<Ready>

const POLL_MS = 20
const ANSWERS_TIMEOUT_MS = 60_000

export class Toolbox {
  readonly #built: Built
  readonly #folder: string
  readonly spawn: Spawn
  readonly #kinds: Partial<Record<ToolName, 'C' | 'Node.js'>> = {}

  /** `folder` is for ledgers and forms. */
  constructor(built: Built, folder: string, spawn: Spawn) {
    this.#built = built
    this.#folder = folder
    this.spawn = spawn
  }

  /** What the tools are written in, for the report. */
  get description(): string {
    const kinds = Object.entries(this.#kinds).map(([name, kind]) => `${name} in ${kind}`)
    return kinds.join(', ') + ('without' in this.#built ? ` (${this.#built.without})` : '')
  }

  async load(options: {
    ports: readonly number[]
    connections: number
    forms: readonly string[]
  }): Promise<Load> {
    const forms = this.#file('forms')
    await writeFile(forms, formsFile(options.forms), 'latin1')
    const args = [options.ports.join(','), String(options.connections), forms]
    const child = this.spawn<object>('load', this.#program('load', args))
    await child.ready()
    return new Load(child, () => this.#file('load'))
  }

  /** @throws (rejects) Error when receipts are to be held back and no C compiler is there. */
  async carrier(options: CarrierOptions): Promise<Carrier> {
    const { receiptDelayMs, deliverWindow, receiptsOutstanding, throughput } = options
    const needsNode = throughput !== null
    if (receiptsOutstanding > 0 && (needsNode || 'without' in this.#built))
      throw new Error('--receipts-outstanding needs the carrier in C, which has no --throughput')
    const args = [...receiptDelayMs, deliverWindow, receiptsOutstanding, ...(needsNode ? [throughput] : [])]
    const child = this.spawn<{ port: number }>(
      'carrier',
      this.#program('carrier', args.map(String), needsNode),
    )
    return new Carrier(child, (await child.ready()).port, () => this.#file('carrier'))
  }

  async receiver(config: ReceiverConfig, hooks: Pick<ChildHooks, 'onNews'> = {}): Promise<Receiver> {
    return this.#receiver(config, config.tls !== null, hooks)
  }

  /** A receiver that hangs, or reports delays. */
  async hangingReceiver(config: ReceiverConfig): Promise<Receiver> {
    return this.#receiver(config, true, {})
  }

  async #receiver(config: ReceiverConfig, needsNode: boolean, hooks: Pick<ChildHooks, 'onNews'>) {
    const isNode = needsNode || 'without' in this.#built
    const program = this.#program('receiver', isNode ? [JSON.stringify(config)] : [], needsNode)
    const child = this.spawn<{ port: number }>('receiver', program, hooks)
    const { port } = await child.ready()
    const origin = `${config.tls === null ? 'http' : 'https'}://127.0.0.1:${port}`
    return new Receiver(child, origin, () => this.#file('receiver'))
  }

  #program(name: ToolName, args: readonly string[], needsNode = false): Program {
    const isC = 'folder' in this.#built && !needsNode
    this.#kinds[name] ??= isC ? 'C' : 'Node.js'
    if (isC) return { command: join(this.#built.folder, name), args }
    return script(`tools/${name}.ts`, ...args)
  }

  #file(name: string): string {
    return join(this.#folder, `${name}-${randomBytes(6).toString('hex')}`)
  }
}

/** The common part of all three: a process that writes its ledger into a file. */
class Tool<Ready> {
  readonly child: Child<Ready>
  readonly #file: () => string

  constructor(child: Child<Ready>, file: () => string) {
    this.child = child
    this.#file = file
  }

  get pid(): number {
    return this.child.pid
  }

  stop(): Promise<void> {
    return this.child.stop()
  }

  protected async ledgerText(): Promise<string> {
    const path = this.#file()
    await this.child.request(`ledger ${path}`)
    const text = await readFile(path, 'latin1')
    await rm(path)
    return text
  }
}

export class Load extends Tool<object> {
  /** Sends while fewer than `bound` messages are in flight. */
  start(bound = MESSAGE_LIMIT): Promise<void> {
    return this.child.request(`start ${Math.min(bound, MESSAGE_LIMIT)}`)
  }

  /** Sends at this rate a second, however fast they are answered. */
  pace(perSecond: number): Promise<void> {
    return this.child.request(`rate ${perSecond}`)
  }

  /** Stops sending. Resolves when every request is answered. @throws (rejects) Error when one is not within 60 s. */
  async stopSending(): Promise<void> {
    await this.child.request('stop')
    const deadlineMs = performance.now() + ANSWERS_TIMEOUT_MS
    for (;;) {
      const { sent, answered } = await this.report()
      if (sent === answered) return
      if (performance.now() > deadlineMs) throw new Error(`${sent - answered} requests were not answered`)
      await new Promise((wake) => setTimeout(wake, POLL_MS))
    }
  }

  /** Tells it that `total` messages have been completed so far. */
  completed(total: number): void {
    this.child.tell(`completed ${total}`)
  }

  report(): Promise<LoadReport> {
    return this.child.request('report')
  }

  async ledger(): Promise<LoadEntry[]> {
    return parseLoadLedger(await this.ledgerText())
  }
}

export class Carrier extends Tool<{ port: number }> {
  readonly port: number

  constructor(child: Child<{ port: number }>, port: number, file: () => string) {
    super(child, file)
    this.port = port
  }

  stats(): Promise<CarrierStats> {
    return this.child.request('stats')
  }

  /**
   * Ends its sessions and closes each new connection at once, until `up`.
   * @throws (rejects) Error when no C compiler is there.
   */
  down(): Promise<void> {
    return this.child.request('down')
  }

  up(): Promise<void> {
    return this.child.request('up')
  }

  /** From now on no receipts are held back. */
  release(): Promise<void> {
    return this.child.request('release')
  }

  async ledger(): Promise<CarrierEntry[]> {
    return parseCarrierLedger(await this.ledgerText())
  }
}

export class Receiver extends Tool<{ port: number }> {
  readonly origin: string

  constructor(child: Child<{ port: number }>, origin: string, file: () => string) {
    super(child, file)
    this.origin = origin
  }

  report(): Promise<ReceiverReport> {
    return this.child.request('report')
  }

  async ledger(): Promise<ReceiverEntry[]> {
    return parseReceiverLedger(await this.ledgerText())
  }

  /** For hanging receivers: the delays of first attempts since the last call, in milliseconds. */
  takeDelays(): Promise<number[]> {
    return this.child.request('takeDelays')
  }

  /** For hanging receivers: later requests are answered. */
  answer(): Promise<void> {
    return this.child.request('answer')
  }
}
