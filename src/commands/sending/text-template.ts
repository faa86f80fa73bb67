/** A text with placeholders, `Hello {name}`: `{{` and `}}` are braces. */

const PARTS = /\{\{|\}\}|\{([^{}]*)\}/g

/** Fills in the placeholders; null where a value is empty, with the name of its column. */
export type Fill = (values: Readonly<Record<string, string>>) => { text: string } | { empty: string }

/** @throws Error for a placeholder that is none of the columns */
export function compileText(text: string, columns: readonly string[]): Fill {
  const names = [...text.matchAll(PARTS)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  const unknown = names.find((name) => !columns.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `--text has {${unknown}}, but the file has no such column, only ${columns.join(', ')}. For a brace, write {{`,
    )
  return (values) => {
    const empty = names.find((name) => values[name] === '')
    if (empty !== undefined) return { empty }
    const filled = text.replace(PARTS, (part, name?: string) =>
      name === undefined ? part[0]! : values[name]!,
    )
    return { text: filled }
  }
}
