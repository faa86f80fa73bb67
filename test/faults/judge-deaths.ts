import type { Answer, Ledgers } from './ledgers.ts'

/** How long a node may need, once its database is back, to write the answers it was given. */
const RECORDED_MS = 1_000

/**
 * Whether an answer given to a node at `answeredAtMs` may have been lost with the node before `untilMs`. That is so if the node
 * accepted nothing from the answer until its death, since its database may have been away all that time. A session that ended
 * in order in between proves nothing: a node unbinds when it cannot renew its lease.
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
