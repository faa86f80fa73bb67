import { Input, InputBase, NativeSelect, TextInput } from '@mantine/core'
import { useId } from 'react'
import { SecretInput } from '../../kit/secret-input.tsx'
import { type FieldInputProps, type Shown, shownOf } from './input-props.ts'
import { ReferenceInput } from './reference-input.tsx'
import { referredBy } from './resources.ts'
import { TextsInput } from './texts-input.tsx'

/** The input of a field that has no fields of its own. */
export function SimpleInput(props: FieldInputProps) {
  const { field, value, onChange, isChange } = props
  const { name, control } = field
  const { kind, values } = control
  const shown = shownOf(props)
  if (kind === 'flag') return <Switch shown={shown} checked={value === true} onChange={onChange} />
  if (kind === 'list') return <TextsInput {...props} />
  const resource = referredBy(name)
  if (resource !== undefined)
    return (
      <ReferenceInput
        {...shown}
        resource={resource}
        value={(value as string | null | undefined) ?? ''}
        onChange={onChange}
      />
    )
  if (values !== undefined)
    return (
      <NativeSelect
        {...shown}
        // Of what is there already every value is known; of a new object it may be left to the service.
        data={isChange ? values : [{ value: '', label: '' }, ...values]}
        value={(value as string | undefined) ?? ''}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  return <TextField {...props} shown={shown} />
}

interface SwitchProps {
  readonly shown: Shown
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}

function Switch({ shown: { label, description, error, size }, checked, onChange }: SwitchProps) {
  const id = useId()
  return (
    <Input.Wrapper id={id} label={label} description={description} error={error} size={size}>
      <input
        type="checkbox"
        className="aldis-switch"
        id={id}
        {...(description !== undefined && { 'aria-describedby': `${id}-description` })}
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </Input.Wrapper>
  )
}

const SECRETS = /^(password|value)$/
const LONG = /Reply$|^tlsCa$/

function TextField({ field: { name, control }, value, onChange, shown }: FieldInputProps & { shown: Shown }) {
  const text = value === null || value === undefined ? '' : String(value)
  if (SECRETS.test(name))
    return (
      <SecretInput
        {...shown}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        autoComplete="new-password"
      />
    )
  if (LONG.test(name))
    return (
      <InputBase
        {...shown}
        component="textarea"
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        rows={3}
      />
    )
  if (name.endsWith('At')) return <TimeInput text={text} onChange={onChange} shown={shown} />
  return (
    <TextInput
      {...shown}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...(control.kind === 'integer' && { inputMode: 'numeric' })}
      autoComplete="off"
      spellCheck={false}
    />
  )
}

/** A time in the time zone of the browser. */
function TimeInput({
  text,
  onChange,
  shown,
}: {
  text: string
  onChange: (value: unknown) => void
  shown: Shown
}) {
  const local = text === '' ? '' : localTime(new Date(text))
  const change = (value: string) => onChange(value === '' ? '' : new Date(value).toISOString())
  return (
    <TextInput
      {...shown}
      type="datetime-local"
      value={local}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}

/** `2026-07-31T09:30`, as the input has it. */
function localTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
