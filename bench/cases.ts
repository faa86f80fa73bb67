import type { Fill } from './end-to-end.ts'
import type { BenchOptions, CaseName } from './options.ts'
import { INTERRUPTED, type Rig } from './rig.ts'
import { type Figures, measureAldis } from './single.ts'

/** Loads that are compared with the full rate or have a limit of their own. Each restarts everything. */

interface Case {
  readonly what: string
  /** Compared with the full rate, which is measured right before it. */
  readonly isCompared: boolean
  /** Required share of the full rate; null: none. */
  readonly leastShare: number | null
  /** Changed options. `fullPerSecond` is 0 if it is not compared. */
  changes(options: BenchOptions, fullPerSecond: number): Partial<BenchOptions>
  /** Seconds beyond a run at the full rate, by experience; default: none. */
  moreSeconds?(options: BenchOptions): number
}

export interface CaseRun {
  readonly name: CaseName
  readonly what: string
  readonly leastShare: number | null
  readonly full: Figures | null
  readonly figures: Figures
}

interface CaseFailure {
  readonly name: CaseName
  /** Why there are no figures. */
  readonly failure: string
}

export interface CaseFigures {
  readonly options: BenchOptions
  readonly runs: readonly CaseRun[]
  readonly failures: readonly CaseFailure[]
}

const LATE_MS = 30_000
const QUEUED = 1_000_000
const RECORDS = 30_000_000

const CASES: Readonly<Record<CaseName, Case>> = {
  window: {
    what: 'windows of 10 both ways',
    isCompared: true,
    leastShare: 0.8,
    changes: () => ({ window: 10, deliverWindow: 10 }),
  },
  outstanding: {
    what: '10,000 receipts outstanding, in random order',
    isCompared: true,
    leastShare: 0.8,
    changes: () => ({ receiptsOutstanding: 10_000 }),
  },
  late: {
    what: 'every receipt 30 s after its submit',
    isCompared: true,
    leastShare: 0.6,
    // Raise the limit by the messages that wait for their receipt at the full rate.
    changes: ({ outstanding }, fullPerSecond) => ({
      receiptDelayMs: [LATE_MS, LATE_MS],
      outstanding: outstanding + Math.ceil((fullPerSecond * LATE_MS) / 1_000),
    }),
    moreSeconds: () => (2 * LATE_MS) / 1_000,
  },
  quiet: {
    what: 'one message at a time',
    isCompared: false,
    leastShare: null,
    changes: () => ({ connections: 1, outstanding: 1 }),
  },
  nodes: {
    what: 'several nodes on one database',
    isCompared: true,
    leastShare: null,
    changes: ({ nodes }) => ({ nodes: nodes > 1 ? nodes : 3 }),
  },
  queued: {
    what: 'messages that wait while the carrier is down',
    isCompared: false,
    leastShare: null,
    changes: ({ queued }) => ({ seconds: 0, queued: queued || QUEUED }),
    moreSeconds: ({ queued }) => (queued || QUEUED) / 2_000,
  },
  records: {
    what: 'messages of earlier days in the tables',
    isCompared: true,
    leastShare: 0.8,
    changes: ({ records }) => ({ records: records || RECORDS }),
    moreSeconds: ({ records }) => 300 + (records || RECORDS) / 50_000,
  },
}

/** How long all of them take, for the progress line, when a run at the full rate takes `runSeconds`. */
export function casesSeconds(options: BenchOptions, runSeconds: number): number {
  const secondsOf = ({ isCompared, moreSeconds }: Case) =>
    runSeconds * (isCompared ? 2 : 1) + (moreSeconds?.(options) ?? 0)
  return options.cases.reduce((sum, name) => sum + secondsOf(CASES[name]), 0)
}

/** @throws (rejects) Error when it is interrupted. The result says which cases have no figures. */
export async function measureCases(newRig: () => Rig, options: BenchOptions): Promise<CaseFigures> {
  const rigFor = (run: string) => () => {
    const rig = newRig()
    rig.progress.run(run)
    return rig
  }
  const runs: CaseRun[] = []
  const failures: CaseFailure[] = []
  for (const name of options.cases) {
    try {
      runs.push(await measureCase(name, rigFor, options))
    } catch (error) {
      if ((error as Error).message === INTERRUPTED) throw error
      failures.push({ name, failure: (error as Error).message })
    }
  }
  return { options, runs, failures }
}

async function measureCase(
  name: CaseName,
  rigFor: (run: string) => () => Rig,
  options: BenchOptions,
): Promise<CaseRun> {
  const { what, isCompared, leastShare, changes } = CASES[name]
  const plain = {
    acceptSeconds: 0,
    webhookSeconds: 0,
    additionMessages: 0,
    latencySeconds: 0,
    nodes: 1,
    queued: 0,
    records: 0,
  }
  const base: BenchOptions = { ...options, ...plain }
  const full = isCompared ? await measureAldis(rigFor(`before ${name}`), base) : null
  const changed = { ...base, ...changes(options, full?.endToEnd?.perSecond ?? 0) }
  const figures = await measureAldis(rigFor(name), changed, fillOf(changed, full))
  return { name, what, leastShare, full, figures }
}

/** With a long delay of receipts, the full rate until the first of them come. */
function fillOf({ receiptDelayMs }: BenchOptions, full: Figures | null): Fill | null {
  const [leastMs, mostMs] = receiptDelayMs
  if (leastMs < LATE_MS || full?.endToEnd == null) return null
  return { perSecond: full.endToEnd.perSecond, seconds: mostMs / 1_000 }
}
