import { open } from 'node:fs/promises'
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../log.ts'
import { PeriodicTask } from './periodic-task.ts'

export interface DescriptorWatchOptions {
  readonly registry: Registry
  readonly log: Log
}

const INTERVAL_MS = 1_000
const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])

/**
 * Notices that the process has no file descriptor left (`ulimit -n`). The event loop then closes new connections without a
 * word to anybody, so once a second it is tried whether one can be had.
 */
export class DescriptorWatch {
  readonly #options: DescriptorWatchOptions
  readonly #shortages: Counter
  readonly #task: PeriodicTask
  #isShort = false

  constructor(options: DescriptorWatchOptions) {
    this.#options = options
    this.#task = new PeriodicTask({
      run: () => this.runOnce(),
      intervalMs: INTERVAL_MS,
      log: options.log,
      failure: 'file descriptors not looked for',
    })
    this.#shortages = new Counter({
      name: 'aldis_file_descriptor_shortages_total',
      help: 'seconds in which the process had no file descriptor left and refused connections',
      registers: [options.registry],
    })
  }

  start(): void {
    this.#task.start()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /** Never rejects. */
  async runOnce(): Promise<void> {
    const code = await openNothing().then(
      () => '',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    )
    const isShort = SHORTAGES.has(code)
    if (isShort) this.#shortages.inc()
    if (isShort && !this.#isShort)
      this.#options.log.error(
        { code },
        'no file descriptor is left: connections are refused; raise the limit (ulimit -n)',
      )
    this.#isShort = isShort
  }
}

async function openNothing(): Promise<void> {
  const file = await open('/dev/null')
  await file.close()
}
