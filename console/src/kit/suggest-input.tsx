import { TextInput, type TextInputProps } from '@mantine/core'
import { useId } from 'react'

interface SuggestInputProps extends TextInputProps {
  readonly suggestions: readonly { readonly value: string; readonly label?: string }[]
}

/** A text field with values that may be meant. The browser shows those that match what is typed; any other is possible. */
export function SuggestInput({ suggestions, ...props }: SuggestInputProps) {
  const id = useId()
  return (
    <>
      <TextInput {...props} list={id} autoComplete="off" />
      <datalist id={id}>
        {suggestions.map(({ value, label }) => (
          <option key={value} value={value} label={label} />
        ))}
      </datalist>
    </>
  )
}
