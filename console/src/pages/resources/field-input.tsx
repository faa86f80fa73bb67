import type { FieldInputProps } from './input-props.ts'
import { ListInput, MapInput } from './list-inputs.tsx'
import { ObjectInput } from './object-input.tsx'
import { SimpleInput } from './simple-input.tsx'

/** The input that fits the type of a field. */
export function FieldInput(props: FieldInputProps) {
  const { kind, item } = props.field.control
  if (kind === 'map') return <MapInput {...props} />
  if (kind === 'object' || kind === 'group') return <ObjectInput {...props} />
  return item?.fields === undefined ? <SimpleInput {...props} /> : <ListInput {...props} />
}
