import type { TextInputProps } from '@mantine/core'
import { NamedField } from '../../kit/named-field.tsx'
import { SuggestInput } from '../../kit/suggest-input.tsx'
import { choicesOf, useSome } from './requests.ts'
import type { Resource } from './resources.ts'

interface ReferenceInputProps extends Omit<TextInputProps, 'value' | 'onChange' | 'resource'> {
  readonly resource: Resource
  readonly value: string
  /** `isWhole`: it is the key of an object, or empty; what is typed may become one. */
  readonly onChange: (value: string, isWhole: boolean) => void
}

/** The key of another object, found by its name. */
export function ReferenceInput({ resource, description, ...rest }: ReferenceInputProps) {
  if (resource.named === undefined)
    return <KeyInput resource={resource} description={description} {...rest} />
  // The help of the API is about its parameter, which is an id; this field takes names too.
  const help = typeof description === 'string' ? description.replace(/^Ids? of [^.;]*(\. |; )?/, '') : ''
  return <NamedField {...rest} {...(help !== '' && { description: help })} kind={resource.named} />
}

/** Its key is its name. Those that the first 1,000 do not have can be typed. */
function KeyInput({ resource, onChange, ...rest }: ReferenceInputProps) {
  const choices = choicesOf(resource, useSome(resource, {}).data?.items ?? [])
  const isKey = (text: string) => choices.some((choice) => choice.value === text)
  return (
    <SuggestInput
      {...rest}
      suggestions={choices}
      onChange={({ currentTarget: { value } }) => onChange(value, value === '' || isKey(value))}
      spellCheck={false}
    />
  )
}
