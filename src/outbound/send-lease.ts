/** What was given under it may be sent until then. In milliseconds of the clock that all threads share. */
export interface SendLease {
  untilMs: number
}

/** That clock. It goes on while the process is stopped, and nobody sets it. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
