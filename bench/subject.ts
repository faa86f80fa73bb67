import type { Ledgers } from './tools/ledgers.ts'

/** What is measured: Aldis or Kannel, started, bound to the carrier, ready for messages. */
export interface Subject {
  readonly name: string
  /** Ports of its HTTP interface for messages, one for each node. */
  readonly ports: readonly number[]
  /** Its requests, see tools/requests.ts. */
  readonly forms: readonly string[]
  /** CPU milliseconds so far, by process. */
  cpuMs(): Readonly<Record<string, number>>
  /** Resident memory of the service, at its highest. */
  peakMemoryMib(): number
  /** Bytes of write-ahead log so far; null where there is no database. */
  walBytes(): Promise<number | null>
  /** Differences between its own records and the ledgers. */
  faults(ledgers: Ledgers): Promise<string[]>
}
