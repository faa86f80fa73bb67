import { runWorker } from '../../src/commands/worker.ts'
import { loadConfig } from '../../src/config.ts'
import { CHANGED } from './app-options.ts'

/** A worker as `aldis serve --workers` starts it, with the options of the bench. */

const loaded = loadConfig()
if (!loaded.ok) throw new Error(loaded.faults.join('; '))
await runWorker(loaded.config, CHANGED)
