/** A worker of Citus that dies, hangs or restarts, with the records of some plans. For a coordinator: see database-kinds.ts. */
import type { Kind } from './kind.ts'
import { signalAll } from './postgres-server.ts'

const LOST_ANSWERS = { repeats: true } as const
const AWAY_MS = [6_000, 12_000] as const
const missing = () => (process.env.TEST_CITUS ? null : 'TEST_CITUS names no number of workers')

export const CITUS_KINDS: readonly Kind[] = [
  {
    name: 'worker-kill',
    summary: 'SIGKILL to every process of a worker',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed, random }) {
      const worker = bed.workers[random.below(bed.workers.length)]!
      await worker.kill()
      return { end: () => worker.start() }
    },
  },
  {
    name: 'worker-hang',
    summary: 'every process of a worker stands still',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed, random }) {
      const { pids } = bed.workers[random.below(bed.workers.length)]!
      signalAll(pids, 'SIGSTOP')
      return { end: async () => signalAll(pids, 'SIGCONT') }
    },
  },
  {
    name: 'all-workers-kill',
    summary: 'SIGKILL to every process of every worker',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed }) {
      await Promise.all(bed.workers.map((worker) => worker.kill()))
      return { end: () => Promise.all(bed.workers.map((worker) => worker.start())) }
    },
  },
]
