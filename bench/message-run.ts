import {
  type EndToEnd,
  type Fill,
  latenciesOf,
  measureEndToEnd,
  measurePaced,
  type Paced,
  type Parts,
} from './end-to-end.ts'
import type { BenchOptions } from './options.ts'
import type { Rig } from './rig.ts'
import type { Subject } from './subject.ts'
import type { Ledgers } from './tools/ledgers.ts'
import type { ReceiverConfig } from './tools/receiver.ts'
import type { Carrier, Load, Receiver, Toolbox } from './tools/tools.ts'
import { arrivalFaults, carrierFaults, receiverFaults } from './totals.ts'

/** The messages of one run: the tools around a subject, its figures, and whether they count. */

/** Figures of the messages that a subject handled. */
export interface MessageFigures {
  readonly endToEnd: EndToEnd | null
  /** At a share of the full rate. */
  readonly paced: Paced | null
}

/** Hooks before and around the measured time. */
export interface RunHooks {
  readonly fill?: Fill | null
  readonly onStart?: () => Promise<void>
  readonly onEnd?: () => Promise<void>
}

/** Starts the tools, and the subject between them. */
export async function startParts<S extends Subject>(
  rig: Rig,
  tools: Toolbox,
  options: BenchOptions,
  tls: ReceiverConfig['tls'],
  start: (carrier: Carrier, receiver: Receiver) => Promise<S>,
): Promise<Parts & { readonly subject: S }> {
  rig.progress.phase('start')
  let load: Load | null = null
  const receiver = await tools.receiver({ tls }, { onNews: (completed) => load?.completed(completed) })
  const carrier = await tools.carrier(options)
  const subject = await start(carrier, receiver)
  const { ports, forms } = subject
  load = await tools.load({ ports, connections: options.connections, forms })
  return { rig, subject, load, carrier, receiver }
}

/** Runs the full rate, then a share of it. Returns a function that reads the ledgers in the end. */
export async function runMessages(
  parts: Parts,
  options: BenchOptions,
  { fill = null, ...around }: RunHooks = {},
): Promise<(ledgers: Ledgers) => MessageFigures> {
  const { seconds, receiptsOutstanding, latencyShare, latencySeconds } = options
  if (seconds === 0) return () => ({ endToEnd: null, paced: null })
  const outstanding = options.outstanding + receiptsOutstanding
  const counted = await measureEndToEnd(parts, { ...options, ...around, outstanding, fill })
  const perSecond = (counted.perSecond * latencyShare) / 100
  const span = latencySeconds === 0 ? null : await measurePaced(parts, perSecond, latencySeconds)
  return (ledgers) => ({
    endToEnd: { ...counted, ...latenciesOf(ledgers, counted) },
    paced: span === null ? null : { perSecond, ...latenciesOf(ledgers, span) },
  })
}

/** @throws (rejects) Error when an accepted message was not completed: then there are no figures. */
export async function requireTotals(parts: Parts, isOrdered: boolean): Promise<Ledgers> {
  const { subject, rig, load, carrier, receiver } = parts
  rig.progress.phase('check')
  const ledgers: Ledgers = {
    load: await load.ledger(),
    receiver: await receiver.ledger(),
    carrier: await carrier.ledger(),
  }
  const faults = [
    ...arrivalFaults(ledgers.load, ledgers.receiver),
    ...receiverFaults(await receiver.report(), isOrdered),
    ...carrierFaults(ledgers.load, ledgers.carrier, await carrier.stats()),
    ...(await subject.faults(ledgers)),
  ]
  if (faults.length > 0) throw new Error(`${subject.name}: ${faults.join('; ')}`)
  return ledgers
}
