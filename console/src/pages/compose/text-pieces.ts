/** A part of a text as the layer behind the field shows it. */
export interface Piece {
  readonly text: string
  /** It forces UCS-2. */
  readonly isMarked: boolean
  /** A segment other than the first begins with it. */
  readonly startsSegment: boolean
}

/**
 * Divides a text where marked characters begin and end, and where segments do. Segments that do not make up the text, as
 * with replaced characters or while a newer text is being checked, divide nothing.
 */
export function piecesOf(
  text: string,
  marked: ReadonlySet<string>,
  segments: readonly string[],
): readonly Piece[] {
  const starts = startsOf(text, segments)
  const pieces: { text: string; isMarked: boolean; startsSegment: boolean }[] = []
  let at = 0
  for (const character of text) {
    const [isMarked, startsSegment] = [marked.has(character), starts.has(at)]
    const last = pieces.at(-1)
    if (last === undefined || startsSegment || last.isMarked !== isMarked)
      pieces.push({ text: character, isMarked, startsSegment })
    else last.text += character
    at += character.length
  }
  return pieces
}

/** Where the second segment and those after it begin, in UTF-16 code units. */
function startsOf(text: string, segments: readonly string[]): ReadonlySet<number> {
  if (segments.join('') !== text) return new Set()
  let at = 0
  return new Set(segments.slice(0, -1).map((segment) => (at += segment.length)))
}

/** A position in code points, as the API has it, in the UTF-16 code units of a field. */
export function unitsBefore(text: string, position: number): number {
  return [...text].slice(0, position).join('').length
}
