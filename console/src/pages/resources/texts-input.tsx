import { CloseButton, NativeSelect, TextInput } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { type FieldInputProps, type Shown, shownOf } from './input-props.ts'
import { ReferenceInput } from './reference-input.tsx'
import { choicesOf, useSome } from './requests.ts'
import { type Resource, referredBy } from './resources.ts'

/** A list of texts, in the order in which they are added: of given values, of other objects, or of any words. */
export function TextsInput(props: FieldInputProps) {
  const {
    field: { name, control },
    path,
    value,
    onChange,
    faults,
  } = props
  const shown = shownOf(props)
  const texts = (value as readonly string[] | null | undefined) ?? []
  const resource = referredBy(name)
  const values = control.item!.values
  // A fault may be about one of them: `keywords.1`.
  const fault = shown.error ?? Object.entries(faults).find(([field]) => field.startsWith(`${path}.`))?.[1]
  const own = { ...shown, error: fault }
  const add = (text: string) => {
    if (text !== '' && !texts.includes(text)) onChange([...texts, text])
  }
  const remove = (text: string) => onChange(texts.filter((each) => each !== text))
  return (
    <div>
      {resource !== undefined && <ReferenceAdder {...own} resource={resource} onAdd={add} />}
      {resource === undefined && values !== undefined && (
        <NativeSelect
          {...own}
          value=""
          onChange={(event) => add(event.currentTarget.value)}
          data={[{ value: '', label: 'Add …' }, ...values.filter((each) => !texts.includes(each))]}
        />
      )}
      {resource === undefined && values === undefined && <WordInput {...own} onAdd={add} />}
      {texts.length > 0 && (
        <ul className="aldis-chips" aria-label={`${shown.label} chosen`}>
          {texts.map((text) => (
            <li key={text} className="aldis-chip">
              {resource === undefined ? text : <Name resource={resource} open={text} />}
              <CloseButton size="xs" aria-label={`Remove ${text}`} onClick={() => remove(text)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type AdderProps = Shown & { readonly onAdd: (text: string) => void }

/** Enter adds what was typed, and so does leaving the field: nobody loses a word that they see. */
function useTyped(onAdd: (text: string) => void) {
  const [typed, setTyped] = useState('')
  const add = () => {
    onAdd(typed.trim())
    setTyped('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || typed.trim() === '') return
    event.preventDefault()
    add()
  }
  return { typed, setTyped, handlers: { onKeyDown, onBlur: add } }
}

function WordInput({ onAdd, description, ...shown }: AdderProps) {
  const { typed, setTyped, handlers } = useTyped(onAdd)
  return (
    <TextInput
      {...shown}
      description={[description, 'Enter adds one'].filter((text) => text !== undefined).join('. ')}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      {...handlers}
      autoComplete="off"
      spellCheck={false}
    />
  )
}

function ReferenceAdder({ onAdd, resource, ...shown }: AdderProps & { readonly resource: Resource }) {
  const { typed, setTyped, handlers } = useTyped(onAdd)
  const change = (text: string, isWhole: boolean) => {
    setTyped(isWhole ? '' : text)
    if (isWhole) onAdd(text)
  }
  return <ReferenceInput {...shown} {...handlers} resource={resource} value={typed} onChange={change} />
}

function Name({ resource, open }: { resource: Resource; open: string }) {
  const choices = choicesOf(resource, useSome(resource, {}).data?.items ?? [])
  return choices.find(({ value }) => value === open)?.label ?? open
}
