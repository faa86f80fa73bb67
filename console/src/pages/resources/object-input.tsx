import { Fieldset, NativeSelect, Stack, Text } from '@mantine/core'
import { type FieldInputProps, shownOf } from './input-props.ts'
import { labelOf } from './labels.ts'
import { SimpleInput } from './simple-input.tsx'
import type { Values } from './values.ts'

type State = 'kept' | 'none' | 'set'

/** An object in its own right, or none. One whose value answers do not have can also be kept as it is. */
export function ObjectInput(props: FieldInputProps) {
  const { field, path, value, onChange, faults, isChange } = props
  const shown = shownOf(props)
  const { name, control } = field
  const state: State =
    value === undefined && isChange ? 'kept' : value === undefined || value === null ? 'none' : 'set'
  const isKeepable = isChange && KEPT.has(name)
  const none = isChange ? null : undefined
  const to: Record<State, unknown> = { kept: undefined, none, set: {} }
  const parts = (value ?? {}) as Values
  return (
    <Fieldset legend={labelOf(name)} variant="filled" p="sm">
      <Stack gap="xs">
        {shown.description !== undefined && (
          <Text size="xs" c="dimmed">
            {shown.description}
          </Text>
        )}
        <NativeSelect
          size="xs"
          aria-label={labelOf(name)}
          value={state}
          onChange={(event) => onChange(to[event.currentTarget.value as State])}
          data={[
            ...(isKeepable ? [{ value: 'kept', label: 'Keep as it is' }] : []),
            { value: 'none', label: 'None' },
            { value: 'set', label: 'Set' },
          ]}
        />
        {state === 'set' &&
          control.fields!.map((part) => (
            <SimpleInput
              key={part.name}
              field={part}
              path={`${path}.${part.name}`}
              value={parts[part.name]}
              onChange={(changed) => onChange({ ...parts, [part.name]: changed })}
              faults={faults}
              isChange={false}
            />
          ))}
        <Fault text={shown.error} />
      </Stack>
    </Fieldset>
  )
}

const KEPT = new Set(['webhookCredentials'])

/** A fault of a field that is no single input. */
export function Fault({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <Text size="xs" c="var(--mantine-color-error)" role="alert">
      {text}
    </Text>
  )
}
