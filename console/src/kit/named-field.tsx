import type { TextInputProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { idIn, labelOfNamed, type NamedKind, useNamed, useNameOf } from './named.ts'
import { SuggestInput } from './suggest-input.tsx'

interface NamedFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly kind: NamedKind
  /** An id, or a text that names nothing yet. */
  readonly value: string
  /** `isWhole`: an id was typed or chosen, or the field is empty. A name may become that of another. */
  readonly onChange: (value: string, isWhole: boolean) => void
}

/** Finds an account or a service plan by its name or id. Of an operator. */
export function NamedField({ kind, value, onChange, error, ...rest }: NamedFieldProps) {
  const [typed, setTyped] = useState('')
  const [hasFocus, setHasFocus] = useState(false)
  const named = useNamed(kind, typed)
  const meant = (text: string) => idIn(text, named) ?? text
  const name = useNameOf(kind, value)
  const resolved = meant(typed)
  // The names may arrive after the text: until then it means nothing.
  useEffect(() => {
    if (value === typed && value !== resolved) onChange(resolved, false)
  }, [value, typed, resolved, onChange])
  const isUnknown = !hasFocus && value !== '' && idIn(value, named) === null
  return (
    <SuggestInput
      placeholder="Name or id"
      spellCheck={false}
      {...rest}
      // What was typed stays as long as it means the value.
      value={resolved === value ? typed : name === undefined ? value : labelOfNamed({ id: value, name })}
      onChange={({ currentTarget }) => {
        const text = currentTarget.value
        setTyped(text)
        onChange(meant(text), text === '' || idIn(text, []) !== null)
      }}
      onFocus={({ currentTarget }) => {
        setHasFocus(true)
        // The browser shows what matches the text: with the old one gone, everything.
        currentTarget.select()
      }}
      onBlur={(event) => {
        setHasFocus(false)
        rest.onBlur?.(event)
      }}
      error={error ?? (isUnknown && `No ${kind} has this name alone`)}
      suggestions={named.map((each) => ({ value: labelOfNamed(each) }))}
    />
  )
}
