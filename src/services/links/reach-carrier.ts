import type { Carrier } from '../../domain/configuration/configuration.ts'
import { probe } from '../../smpp/connection.ts'
import { tlsOf } from './carrier-link.ts'

/**
 * Connects to a carrier as its binds do, and closes without a bind.
 * @throws Error of the socket, or ETIMEDOUT
 */
export function reachCarrier(carrier: Carrier, connectTimeoutMs: number): Promise<void> {
  const { host, port, tls } = carrier
  return probe({ host, port, connectTimeoutMs, ...(tls && { tls: tlsOf(carrier) }) })
}
