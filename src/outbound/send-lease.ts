/** Webhooks posted under this lease may be sent until it ends. In milliseconds of the clock that all threads share. */
export interface SendLease {
  untilMs: number
}

/** The shared clock. It keeps running while the process is stopped, and nobody sets it. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
