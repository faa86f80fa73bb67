/** Makes the planned faults, one after the other, and keeps a ledger of them. */
import { SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import { nowMs, pause } from './clock.ts'
import type { FaultEntry } from './ledgers.ts'
import type { Planned } from './schedule.ts'

export interface NemesisOptions {
  readonly bed: Bed
  readonly schedule: Iterable<Planned>
  /** When it aborts, no further fault begins. */
  readonly untilMs: number
  readonly maxFaults: number
  readonly signal: AbortSignal
  readonly onFault: (planned: Planned) => void
}

/** @throws Error when a fault could not be made or ended, which makes the run worthless. */
export async function bringFaults(options: NemesisOptions): Promise<FaultEntry[]> {
  const { bed, signal } = options
  const ledger: FaultEntry[] = []
  for (const planned of options.schedule) {
    if (ledger.length >= options.maxFaults) break
    await pause(planned.gapMs, signal)
    if (nowMs() + planned.holdMs > options.untilMs || signal.aborted) break
    options.onFault(planned)
    ledger.push(await bring(bed, planned, signal))
  }
  return ledger
}

async function bring(bed: Bed, planned: Planned, signal: AbortSignal): Promise<FaultEntry> {
  const { kind, holdMs, seed } = planned
  const node = bed.nodes[planned.node]!
  const begunMs = nowMs()
  const ongoing = await kind.begin({ bed, random: new SeededRandom(seed), node })
  await pause(holdMs, signal)
  const freeMs = kind.barsTakeover === true ? nowMs() : undefined
  await ongoing.end()
  return {
    kind: kind.name,
    node: planned.node,
    begunMs,
    startMs: ongoing.startMs ?? begunMs,
    endMs: nowMs(),
    excuses: kind.excuses,
    killedNode: ongoing.killedNode ?? null,
    freeMs,
    nodes: bed.nodes.map(({ index }) => index),
  }
}
