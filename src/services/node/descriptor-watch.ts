import { open } from 'node:fs/promises'
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../log.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

const INTERVAL_MS = 1_000
const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])

/**
 * Notices that the process has no file descriptor left (`ulimit -n`). The event loop then closes new connections silently, so
 * this tries once a second whether one can be opened.
 */
export function descriptorWatch(registry: Registry, log: Log): PeriodicTask {
  const shortages = new Counter({
    name: 'aldis_file_descriptor_shortages_total',
    help: 'seconds in which the process had no file descriptor left and refused connections',
    registers: [registry],
  })
  let wasShort = false
  const run = async () => {
    const code = await openNothing().then(
      () => '',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    )
    const isShort = SHORTAGES.has(code)
    if (isShort) shortages.inc()
    if (isShort && !wasShort)
      log.error({ code }, 'no file descriptor is left: connections are refused; raise the limit (ulimit -n)')
    wasShort = isShort
  }
  return new PeriodicTask(log, 'file descriptors not looked for', INTERVAL_MS, run)
}

async function openNothing(): Promise<void> {
  const file = await open('/dev/null')
  await file.close()
}
