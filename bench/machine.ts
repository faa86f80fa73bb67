import { arch, cpus, loadavg, release, totalmem } from 'node:os'
import type pg from 'pg'
import { serverFacts, timeCommits } from './aldis/database.ts'

/** Where the figures were taken, line by line. */
export async function describeMachine(db: pg.Client): Promise<Record<string, string>> {
  const { version, settings } = await serverFacts(db)
  const load = (loadavg()[0] ?? 0).toFixed(2)
  const commits = await timeCommits(db)
  return {
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${arch()}`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `Linux ${release()}, load average ${load} before the run`,
    node: process.version,
    postgresql: `${version} (${settings})`,
    'synced commit': `p50 ${commits.p50.toFixed(2)} ms, p99 ${commits.p99.toFixed(2)} ms (${commits.count} of one row)`,
  }
}
