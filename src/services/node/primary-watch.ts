import type { Log } from '../../log.ts'
import type { DatabaseHosts } from '../../store/database-hosts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

const INTERVAL_MS = 5_000

/**
 * Notices that another server of DATABASE_URL was promoted while the primary goes on: nobody ends its connections, and what is
 * written there will be lost.
 */
export function primaryWatch(hosts: DatabaseHosts, log: Log): PeriodicTask {
  let said = ''
  const run = async () => {
    const { primary: before } = hosts
    // Without a primary every statement fails, and says why.
    await hosts.search().catch(() => undefined)
    const { primary, rivals } = hosts
    if (primary !== before)
      log.warn(
        { host: `${primary.host}:${primary.port}` },
        'another server of DATABASE_URL is the primary now',
      )
    const text = rivals.join('; ')
    if (text !== '' && text !== said)
      log.error({ rivals }, 'stop these servers: they were replaced, and what they take is lost')
    said = text
  }
  return new PeriodicTask(log, 'other primaries not looked for', INTERVAL_MS, run)
}
