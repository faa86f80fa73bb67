import type { Answer, Ledgers } from './ledgers.ts'

/** What a node may need, once its database is back, to write what it was answered. */
const RECORDED_MS = 1_000

/**
 * Whether what somebody answered a node at `answeredAtMs` may have died with it before `untilMs`: from the answer until its
 * death it had accepted nothing, so its database may have been away all the time. That the session had ended in order
 * before says nothing: a node unbinds when it cannot renew its lease.
 */
export function mayHaveDied(
  answeredAtMs: number,
  untilMs: number,
  { load, faults }: Pick<Ledgers, 'load' | 'faults'>,
): boolean {
  return faults.some(({ killedNode, startMs }) => {
    if (killedNode === null || answeredAtMs > startMs || startMs > untilMs) return false
    const isProof = ({ node, status, sentAtMs, answeredAtMs: acceptedAtMs }: Answer) =>
      node === killedNode &&
      status === 202 &&
      sentAtMs >= answeredAtMs + RECORDED_MS &&
      acceptedAtMs <= startMs
    return !load.some(({ answers }) => answers.some(isProof))
  })
}
