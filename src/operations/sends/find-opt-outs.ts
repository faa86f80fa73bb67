import type { Queryable } from '../../store/database.ts'
import { findOptOuts, type OptOutPair } from '../../store/opt-outs.ts'

/** Whether the person of each pair has opted out. */
export async function areOptedOut(db: Queryable, pairs: readonly OptOutPair[]): Promise<readonly boolean[]> {
  const found = new Set((await findOptOuts(db, pairs)).map(textOf))
  return pairs.map((pair) => found.has(textOf(pair)))
}

function textOf({ planId, sender, recipient }: OptOutPair): string {
  return JSON.stringify([planId, sender, recipient])
}
