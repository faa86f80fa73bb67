import { randomBytes } from 'node:crypto'
import { RECEIPT_STATES } from '../../domain/carriers/statuses.ts'
import type { Carrier } from '../../domain/configuration/configuration.ts'
import {
  type HandsetMessage,
  type HandsetSubmission,
  isSandbox,
  SANDBOX,
  type SandboxOutcome,
} from '../../domain/sandbox.ts'
import { countSegments } from '../../domain/text/segments.ts'
import {
  DELIVERED,
  LATE_RECEIPT_DELAY_MS,
  OUTCOMES,
  type Outcome,
  RECEIPT_DELAY_MS,
} from '../../simulator/outcomes.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { statusName } from '../../smpp/statuses.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

type SandboxOptions = Pick<NodeParts, 'directory' | 'log'>

const HOST = '127.0.0.1'
const RETRY_MS = 5_000
const NOT_STARTED = 'the simulator of sandbox plans has not started'
/** A handset's message that is not recorded by then is offered again until it is. */
const RECORDED_WITHIN_MS = 5_000
/** Receipts and inbound messages that wait for this node to take them; with more, the oldest are dropped. */
const KEEP_LIMIT = 10_000
/** Receipts whose time has not come. With more, submits are answered ESME_RMSGQFUL. */
const SCHEDULE_LIMIT = 100_000

/**
 * The carrier of sandbox plans on this node: a simulator inside the process, at a loopback port of its own, for as long as
 * the configuration has the carrier. Only this process can bind to it.
 */
export class Sandbox {
  readonly #options: SandboxOptions
  readonly #password = randomBytes(6).toString('base64url')
  readonly #task: PeriodicTask
  #simulator: Simulator | null = null
  #onChange: () => void = () => undefined

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#task = new PeriodicTask(options.log, NOT_STARTED, RETRY_MS, () => this.#runOnce())
  }

  /**
   * Resolves when the simulator runs, if the configuration has the carrier. `onChange` is called when `located` returns
   * something else.
   */
  async start(onChange: () => void): Promise<void> {
    this.#onChange = onChange
    await this.#task.startNow()
  }

  /** The configuration has changed. */
  adopt(): void {
    this.#task.wake()
  }

  /** The carrier as this node reaches it; null: not yet. */
  readonly located = (carrier: Carrier): Carrier | null => {
    if (!isSandbox(carrier)) return carrier
    if (this.#simulator === null) return null
    return { ...carrier, host: HOST, port: this.#simulator.port, systemId: SANDBOX, password: this.#password }
  }

  /**
   * Sends a message from a handset. Resolves when it is recorded, or after 5 s: the simulator then continues to offer it.
   * Null: the simulator is not bound to this node, or stopped meanwhile.
   */
  async send(message: HandsetMessage): Promise<HandsetSubmission | null> {
    const simulator = this.#simulator
    if (simulator === null || simulator.binds.length === 0) return null
    const { encoding, segments: parts } = countSegments(message.body)
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, RECORDED_WITHIN_MS)
    const recorded = simulator.sendInbound({ ...message, systemId: SANDBOX })
    const isGivenUp = recorded.then(
      () => false,
      () => true,
    )
    const isLost = await Promise.race([isGivenUp, late])
    clearTimeout(timer)
    return isLost === true ? null : { encoding, parts }
  }

  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#simulator?.stop()
    this.#simulator = null
  }

  async #runOnce(): Promise<void> {
    const isWanted = this.#options.directory().contents.carriers.some(isSandbox)
    if (isWanted === (this.#simulator !== null)) return
    const former = this.#simulator
    this.#simulator = isWanted ? await this.#startSimulator() : null
    this.#onChange()
    await former?.stop()
  }

  /** Ids differ from those of the simulators of other nodes. Nobody can bind as a handset. */
  #startSimulator(): Promise<Simulator> {
    return startSimulator({
      host: HOST,
      port: 0,
      credentials: [{ systemId: SANDBOX, password: this.#password }],
      handsetSystemId: randomBytes(8).toString('hex'),
      messageIds: 'uuid',
      keepLimit: KEEP_LIMIT,
      scheduleLimit: SCHEDULE_LIMIT,
    })
  }
}

/** The outcomes of the simulator as data, by the last digits of a destination; the one of all others is the last. */
export const OUTCOME_TABLE: readonly SandboxOutcome[] = [
  ...[...OUTCOMES].map(([lastDigits, outcome]) => describe(lastDigits, outcome)),
  describe(null, DELIVERED),
]

function describe(lastDigits: string | null, outcome: Outcome): SandboxOutcome {
  const { summary, refusal, receipts } = outcome
  return {
    lastDigits,
    summary,
    status: finalStatus(outcome),
    refusal: refusal && {
      commandStatus: statusName(refusal.status),
      attempts: Number.isFinite(refusal.attempts) ? refusal.attempts : null,
    },
    receipts: receipts.map(({ state, err }) => ({ state, error: err })),
    receiptDelayMs: receipts.length === 0 ? null : delayOf(outcome),
  }
}

/** The first receipt that is final decides; later ones change nothing. */
function finalStatus({ refusal, receipts }: Outcome): SandboxOutcome['status'] {
  if (refusal?.attempts === Number.POSITIVE_INFINITY) return 'FAILED'
  return (
    receipts.map(({ state }) => RECEIPT_STATES[state].outcome).find((status) => status !== 'SENT') ?? 'SENT'
  )
}

function delayOf({ pace }: Outcome): { least: number; most: number } {
  if (pace === 'early') return { least: 0, most: 0 }
  if (pace === 'late') return { least: LATE_RECEIPT_DELAY_MS, most: LATE_RECEIPT_DELAY_MS }
  const [least, most] = RECEIPT_DELAY_MS
  return { least, most }
}
