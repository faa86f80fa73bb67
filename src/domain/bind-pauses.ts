/**
 * Why a carrier's link is down. closed: the carrier ended the session without an answer to the bind, or at once after it;
 * refused: it refused the bind, or is there and takes no submits; unreached: anything else.
 */
export type LinkFailure = 'unreached' | 'closed' | 'refused' | 'unauthorized'

/** The longest pause before the next bind, milliseconds. */
const MOST_MS: Readonly<Record<LinkFailure, number>> = {
  // Sending resumes within so long of the carrier's return.
  unreached: 5_000,
  closed: 60_000,
  refused: 60_000,
  // Some carriers lock an account after too many binds.
  unauthorized: 300_000,
}
/** A carrier that restarts closes sessions too, for half a minute or so: that many in a row are no refusal. */
const QUICK_CLOSES = 8

/**
 * The longest pause before the next bind, in milliseconds, after one of `lastMs`; 0: the link was in order. It doubles from
 * `firstMs` up to a bound that depends on the failure. `closes`: how many sessions in a row were closed, this one included. A
 * carrier that was away for long and refuses the first binds when it is back is asked again soon: its absence has made the
 * pause no longer than that of `unreached`.
 */
export function nextPauseMs(
  failure: LinkFailure,
  { lastMs, firstMs, closes }: { lastMs: number; firstMs: number; closes: number },
): number {
  const isQuick = failure === 'closed' && closes <= QUICK_CLOSES
  return Math.min(Math.max(firstMs, 2 * lastMs), MOST_MS[isQuick ? 'unreached' : failure])
}
