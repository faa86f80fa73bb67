/** Text that a spreadsheet would calculate, with the wide forms that some locales read alike. */
const FORMULA = /^[\t\r\n ]*[=+\-@＝＋－＠]/
/** The one harmless thing that begins with a plus. */
const PHONE = /^\+\d+$/
const NEEDS_QUOTES = /[",\r\n\t]/

/** One line of a CSV file (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const safe = FORMULA.test(value) && !PHONE.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
