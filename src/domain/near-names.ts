/** Names that somebody may have meant by another. */

/** A longer name is not compared: the cost grows with the square of its length. */
const MAX_NAME_LENGTH = 32

/**
 * The name that is meant: the same but for case, `_` and `-`, or else the nearest one that differs in at most a third of
 * its letters (`callbackURL`, `callback_url`, `form`). Null when there is none.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null
  const folded = fold(name)
  const ranked = known
    .map((one) => ({ one, edits: editsBetween(folded, fold(one)) }))
    .filter(({ one, edits }) => edits * 3 <= one.length)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.one ?? null
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

/** Letters added, left out or changed, and neighbours exchanged (optimal string alignment distance). */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1]
      const isExchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      next[column] = Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isExchanged ? beforeLast[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = next
  }
  return last[b.length]!
}
