import { setFlagsFromString } from 'node:v8'
import type { Metrics } from '../http/metrics.ts'
import type { SiblingReceipts } from '../services/receiving/sibling-receipts.ts'
import { listenHttp } from './http.ts'
import { makeLimits } from './limits.ts'
import { makeMessagePath } from './message-path.ts'
import type { AppOptions } from './options.ts'
import { makePlatform } from './platform.ts'
import { ShutdownStack } from './shutdown.ts'

export interface App {
  /** Where the HTTP server listens, http://address:port. */
  readonly url: string
  readonly port: number
  /** The port of the operators' own listener; null when operators are served at `port`. */
  readonly operatorPort: number | null
  /** The metrics of this process alone. */
  metrics(): Promise<Metrics>
  /** Reads the changed configuration. */
  refresh(): Promise<void>
  /** Takes receipts that another worker received, see `SiblingReceipts.take`. */
  readonly takeReceipts: SiblingReceipts['take']
  /** Stops accepting, finishes work in flight, and requeues the rest. Never rejects. Takes at most `drainTimeoutMs`. */
  stop(): Promise<void>
}

/**
 * The old generation is collected when it has grown by this share of what was alive after the last collection. By V8's own
 * rule, draining a backlog made it grow from 50 MB to between 155 and 207. With 100, the p99 of accepts at the full rate was
 * a third longer.
 */
const HEAP_GROWING_PERCENT = 200

/**
 * V8 makes objects in the old generation at once where many survived before, which is so in a start's small young
 * generation. Some 4 kB of each message became old that way, or were held by what had, and were collected only with all else.
 */
const ALL_YOUNG = '--no-allocation-site-pretenuring'

/**
 * Small Buffers share blocks of this size, and one that becomes old keeps its block until the next full collection. With Node's
 * 64 KiB, buffers grew by 25 MB/s at 60 % of the full rate, and every 70 MB of them were followed by a full collection.
 */
const POOL_OCTETS = 8_192

/**
 * Builds a node, starts its components in order, and returns it when everything answers. They are stopped in reverse, so
 * that the component to which another hands its work is still running:
 *
 *   platform      database (reached, judged, migrated), its connections for reads and heartbeats, configuration, resolver,
 *                 webhook sockets
 *   message path  lease, quality watch, lane recovery, messages in progress, webhook deliverer, recorder, receiver, carrier
 *                 links, submitter, maintenance
 *   limits        shares of the caps and rates of plans, and events of their limits
 *   http          the server: it listens first (a later worker last), and is opened when everything behind it is up
 *
 * A start that fails has taken nothing from other nodes: the lease is the last thing that can fail.
 */
export async function startApp(options: AppOptions): Promise<App> {
  setFlagsFromString(ALL_YOUNG)
  Buffer.poolSize = POOL_OCTETS
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`)
  const shutdown = new ShutdownStack(options.log, options.drainTimeoutMs)
  try {
    const platform = await makePlatform(options, shutdown)
    const path = makeMessagePath(options, shutdown, platform)
    const limits = makeLimits(options, shutdown, platform, path.lease)
    const http = await listenHttp(options, platform, path, limits)
    try {
      await platform.start()
      await path.start()
    } catch (error) {
      await http.close()
      throw error
    }
    shutdown.add('http', () => http.close())
    shutdown.add('report of draining', () => path.reports.drain())
    const { port, operatorPort } = await http.open()
    const host = options.httpHost.includes(':') ? `[${options.httpHost}]` : options.httpHost
    const url = `http://${host}:${port}`
    const metrics = () => platform.registry.getMetricsAsJSON()
    const refresh = () => platform.directoryService.refresh()
    const takeReceipts: App['takeReceipts'] = (rows) => path.siblings.take(rows)
    return { url, port, operatorPort, metrics, refresh, takeReceipts, stop: () => shutdown.stop() }
  } catch (error) {
    await shutdown.stop()
    throw error
  }
}
