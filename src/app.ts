import { startBase } from './app/base.ts'
import { startHttp } from './app/http.ts'
import { startMessagePath } from './app/message-path.ts'
import type { AppOptions } from './app/options.ts'
import { Parts } from './parts.ts'

export type { AppOptions } from './app/options.ts'

export interface App {
  /** Where the HTTP server listens, http://address:port. */
  readonly url: string
  readonly port: number
  /** Stops accepting, finishes what is under way, gives the rest back. Never rejects; at most `drainTimeoutMs`. */
  stop(): Promise<void>
}

/**
 * Builds a node, starts its parts in order, and gives it when everything answers. They are stopped in reverse, so that
 * whatever a part hands on still finds who takes it:
 *
 *   base          database (reached, judged, migrated), its connections for reads and heartbeats, configuration, resolver
 *   message path  quality watch, webhook sockets, lease, webhook deliverer, recorder, binds, carrier links, submitter,
 *                 holdings, maintenance
 *   http          the server: nothing is accepted before everything behind it is up
 */
export async function startApp(options: AppOptions): Promise<App> {
  const parts = new Parts(options.log, options.drainTimeoutMs)
  try {
    const base = await startBase(options, parts)
    const path = await startMessagePath(options, parts, base)
    const port = await startHttp(options, parts, { ...base, ...path })
    const host = options.httpHost.includes(':') ? `[${options.httpHost}]` : options.httpHost
    return { url: `http://${host}:${port}`, port, stop: () => parts.stop() }
  } catch (error) {
    await parts.stop()
    throw error
  }
}
