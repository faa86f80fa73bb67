import type { Control, Field } from './operations.ts'

/** The fields of an object, of a request or of a form. */
export type Values = Readonly<Record<string, unknown>>

/** Fields that answers never have: a form cannot show what they are, only replace it. */
const HIDDEN = new Set(['password', 'webhookHeaders', 'webhookCredentials', 'force'])

/** The object as it is; of a new one what the service takes for switches. Undefined is omitted, or kept as it is. */
export function presentValues(fields: readonly Field[], item: Values | null): Values {
  return Object.fromEntries(
    fields.map(({ name, control: { kind, fallback } }) => {
      if (item !== null) return [name, HIDDEN.has(name) ? undefined : item[name]]
      return [name, kind === 'flag' ? fallback === 'true' : undefined]
    }),
  )
}

/** What is to be sent: required fields, and those that differ from the present ones. */
export function changedValues(fields: readonly Field[], present: Values, draft: Values): Values {
  const changed: Record<string, unknown> = {}
  for (const { name, control, required } of fields) {
    const [before, after] = [present, draft].map((values) =>
      sentValue(control, values[name], present[name] === undefined, required),
    )
    const isSame = JSON.stringify(after) === JSON.stringify(before)
    if (after !== undefined && (required || !isSame)) changed[name] = after
  }
  return changed
}

/** An empty field that had no value stays omitted; one that had a value is cleared. */
function sentValue(control: Control, value: unknown, isNew: boolean, required?: boolean): unknown {
  const { kind, nullable, item, fields = [] } = control
  if (kind === 'list' && required && isNew) return listed(item!, value ?? [])
  if (value === '' || (Array.isArray(value) && value.length === 0)) {
    if (isNew) return undefined
    return nullable ? null : value
  }
  if (Array.isArray(value)) return listed(item!, value)
  if (kind === 'integer') return integer(value)
  if (value === null || typeof value !== 'object' || kind === 'map') return value
  return objectOf(fields, value as Values)
}

function listed(item: Control, values: unknown): unknown[] {
  return (values as unknown[]).map((value) => (item.fields ? objectOf(item.fields, value as Values) : value))
}

function objectOf(fields: readonly Field[], value: Values): Values {
  const parts = fields.map(({ name, control }) => [name, sentValue(control, value[name], true)] as const)
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined))
}

/** The service says what is wrong with another text. */
function integer(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}
