import { type Simulator, startSimulator } from '../src/simulator/simulator.ts'
import { configuration, serveParent } from './parent.ts'

/** The carrier: the project's simulator, as a process of its own. */

export interface CarrierConfig {
  readonly receiptDelayMs: readonly [number, number]
  readonly deliverWindow: number
  readonly throughput?: number
}

const simulator: Simulator = await startSimulator({ port: 0, ...configuration<CarrierConfig>() })

serveParent({ port: simulator.port }, { stats: () => simulator.stats }, () => simulator.stop())
