/**
 * Why a carrier's link is down:
 * - closed: the carrier ended the session instead of answering the bind, or right after its answer;
 * - unauthorized: it refused the system id or the password;
 * - refused: it refused the bind for another reason, or is reachable but takes no submits;
 * - unreached: anything else.
 */
export type LinkFailure = 'unreached' | 'closed' | 'refused' | 'unauthorized'

/** The longest pause before the next bind, milliseconds. */
const MOST_MS: Readonly<Record<LinkFailure, number>> = {
  // Sending resumes at most this long after the carrier is back.
  unreached: 5_000,
  closed: 60_000,
  refused: 60_000,
  // Some carriers lock an account after too many binds.
  unauthorized: 300_000,
}
/** A restarting carrier also closes sessions, for half a minute or so: this many closes in a row are no refusal. */
const QUICK_CLOSES = 8

/**
 * The longest pause before the next bind, in milliseconds, after a pause of `lastMs`; 0 means that the link was in order.
 * It doubles from `firstMs` up to a bound that depends on the failure. `closes`: how many sessions in a row were closed,
 * this one included. A carrier that was away for long and refuses the first binds on its return is retried soon: while it
 * was away, the pause grew no longer than that of `unreached`.
 */
export function nextPauseMs(
  failure: LinkFailure,
  { lastMs, firstMs, closes }: { lastMs: number; firstMs: number; closes: number },
): number {
  const isQuick = failure === 'closed' && closes <= QUICK_CLOSES
  return Math.min(Math.max(firstMs, 2 * lastMs), MOST_MS[isQuick ? 'unreached' : failure])
}
