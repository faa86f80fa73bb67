import { type Simulator, startSimulator } from '../src/simulator/simulator.ts'
import { configuration, serveParent } from './parent.ts'

/** The carrier: the project's simulator, as a process of its own. */

const { receiptDelayMs } = configuration<{ receiptDelayMs: readonly [number, number] }>()
const simulator: Simulator = await startSimulator({ port: 0, receiptDelayMs })

serveParent({ port: simulator.port }, { stats: () => simulator.stats }, () => simulator.stop())
