/** What went wrong with a bind: why its session ended, or how its carrier refused a request. */
export interface BindError {
  /** When last, ISO 8601. */
  readonly at: string
  /** `bind_rejected`, `peer_closed`, or the command that was refused: `submit_sm`. */
  readonly error: string
  /** The command_status, by name; null: there was none. */
  readonly status: string | null
  /** The error of the socket; null: there was none. */
  readonly detail: string | null
  /** How often. */
  readonly count: number
}

type ErrorKind = Pick<BindError, 'error' | 'status' | 'detail'>

/** Different errors that are kept for one bind. */
export const MAX_BIND_ERRORS = 5

/** The last errors of a bind. A repeated error is only counted, so that it does not push out the others. */
export class BindErrors {
  readonly #kept: { readonly kind: ErrorKind; count: number; lastMs: number }[] = []

  /** `nowMs`: Unix milliseconds. */
  note(kind: ErrorKind, nowMs: number): void {
    const known = this.#kept.find(
      ({ kind: { error, status, detail } }) =>
        error === kind.error && status === kind.status && detail === kind.detail,
    )
    if (known === undefined) this.#kept.push({ kind, count: 1, lastMs: nowMs })
    else {
      known.count += 1
      known.lastMs = nowMs
    }
    if (this.#kept.length > MAX_BIND_ERRORS) {
      const oldestMs = Math.min(...this.#kept.map(({ lastMs }) => lastMs))
      this.#kept.splice(
        this.#kept.findIndex(({ lastMs }) => lastMs === oldestMs),
        1,
      )
    }
  }

  /** Newest first. */
  list(): BindError[] {
    return this.#kept
      .toSorted((a, b) => b.lastMs - a.lastMs)
      .map(({ kind, count, lastMs }) => ({ at: new Date(lastMs).toISOString(), ...kind, count }))
  }
}
