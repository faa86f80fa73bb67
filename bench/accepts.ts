import { drained, latenciesOf, type Parts } from './end-to-end.ts'
import type { Percentiles } from './percentiles.ts'
import { type Ledgers, nowUs } from './tools/ledgers.ts'

/** Sends as fast as requests are answered, while messages pile up behind; then waits until all are delivered. */

interface AcceptRun {
  readonly fromUs: number
  readonly toUs: number
  /** Messages that waited for the carrier when the load ended, and how fast they were completed. */
  readonly backlog: number
  readonly drainPerSecond: number
}

export interface Accepts {
  readonly messages: number
  readonly perSecond: number
  readonly latency: Percentiles
  readonly backlog: number
  readonly drainPerSecond: number
}

const WARM_UP_MS = 2_000

export async function runAccepts(parts: Parts, seconds: number): Promise<AcceptRun> {
  const { rig, load, receiver } = parts
  rig.progress.phase('accepts')
  await load.start()
  await rig.pause(WARM_UP_MS)
  const fromUs = nowUs()
  await rig.pause(seconds * 1_000)
  const toUs = nowUs()
  await Promise.race([load.stopSending(), rig.fault])
  const { completed } = await receiver.report()
  const backlog = (await load.report()).accepted - completed
  const drainSeconds = await drained(parts)
  return { fromUs, toUs, backlog, drainPerSecond: backlog / drainSeconds }
}

export function acceptFigures(run: AcceptRun, ledgers: Ledgers): Accepts {
  const { fromUs, toUs, backlog, drainPerSecond } = run
  const latency = latenciesOf(ledgers, run).accept
  const perSecond = (latency.count * 1_000_000) / (toUs - fromUs)
  return { messages: latency.count, perSecond, latency, backlog, drainPerSecond }
}
