/** For `validateSearch`: of these search parameters the texts, without the empty ones. */
export function textsOf<Name extends string>(
  names: readonly Name[],
  search: Record<string, unknown>,
): { readonly [Each in Name]?: string } {
  const given = names.map((name) => [name, search[name]] as const)
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== '')) as {
    readonly [Each in Name]?: string
  }
}

const MINUTE_MS = 60_000

/** An instant as a field for date and time takes it: in the time zone of the browser. Empty when it is none. */
export function localOf(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19)
}

/** The instant of a field for date and time, as the API takes it; empty for an empty field. */
export function instantOf(local: string): string {
  return local === '' ? '' : new Date(local).toISOString()
}
