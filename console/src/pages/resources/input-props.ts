import { labelOf } from './labels.ts'
import type { Control, Field } from './operations.ts'

export interface FieldInputProps {
  readonly field: Field
  /** As the API names it in faults: `carriers.0.carrier`. */
  readonly path: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** What the API said is wrong, by path. */
  readonly faults: Readonly<Record<string, string>>
  /** Whether the object is there already: a field without a value is kept as it is. */
  readonly isChange: boolean
}

/** What every input of Mantine takes. */
export interface Shown {
  readonly label: string
  readonly description: string | undefined
  readonly error: string | undefined
  readonly withAsterisk: boolean
  readonly size: 'xs'
}

export function shownOf({ field, path, faults }: FieldInputProps): Shown {
  const { name, control, required } = field
  const label = labelOf(name)
  return {
    label,
    description: describe(control, label),
    error: faults[path],
    withAsterisk: required === true,
    size: 'xs',
  }
}

/** The help of the API unless the label says as much, what the default is, and what it means to leave the field empty. */
function describe(
  { help, fallback, none, kind, minimum, maximum }: Control,
  label: string,
): string | undefined {
  const range = kind === 'integer' && maximum !== undefined ? `${minimum ?? 0} to ${maximum}` : undefined
  const isObject = kind === 'object' || kind === 'group'
  const sentences = [
    help === label ? undefined : help,
    range,
    fallback && `Default: ${fallback}`,
    none !== undefined && kind !== 'flag' && `${isObject ? 'None' : 'Empty'}: ${none}`,
  ].filter((sentence) => typeof sentence === 'string')
  return sentences.length === 0 ? undefined : sentences.map((sentence) => capital(sentence)).join('. ')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
