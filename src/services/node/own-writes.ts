/** Every node runs these again and again. They queue nothing. */
const POLLS: ReadonlySet<string> = new Set([
  'directory_version',
  'find_waiting_events',
  'find_waiting_plans',
  'heartbeat',
  'list_pauses',
  'list_troubled_destinations',
  'publish_report',
  'read_binds',
  'take_buckets',
])

/**
 * Tells that a statement of this process is over that may have queued messages or events. Those of a transaction are followed by
 * its COMMIT, which has no name.
 */
export class OwnWrites {
  readonly #listeners: (() => void)[] = []

  /** A statement is over. `name`: its name as a prepared statement, if it has one. */
  readonly noted = (name: string | null): void => {
    if (name !== null && POLLS.has(name)) return
    for (const listener of this.#listeners) listener()
  }

  onWrite(listener: () => void): void {
    this.#listeners.push(listener)
  }
}
