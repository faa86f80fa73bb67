import type { TextInputProps } from '@mantine/core'
import { SuggestInput } from '../../kit/suggest-input.tsx'
import { choicesOf, useSome } from './requests.ts'
import type { Resource } from './resources.ts'

interface ReferenceInputProps extends Omit<TextInputProps, 'value' | 'onChange' | 'resource'> {
  readonly resource: Resource
  readonly value: string
  /** `isWhole`: it is the key of an object, or empty; what is typed may become one. */
  readonly onChange: (value: string, isWhole: boolean) => void
}

/** The key of another object, found by its name. Keys that the first 1,000 do not have can be typed. */
export function ReferenceInput({ resource, value, onChange, description, ...rest }: ReferenceInputProps) {
  const choices = choicesOf(resource, useSome(resource, {}).data?.items ?? [])
  const isKey = (text: string) => choices.some((choice) => choice.value === text)
  const chosen = choices.find((choice) => choice.value === value && choice.label !== value)
  return (
    <SuggestInput
      {...rest}
      size="xs"
      suggestions={choices}
      value={value}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value, currentTarget.value === '' || isKey(currentTarget.value))
      }
      description={chosen === undefined ? description : chosen.label}
      spellCheck={false}
    />
  )
}
