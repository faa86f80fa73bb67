import { Button, Group, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { instantOf, localOf } from '../../../kit/filters.ts'
import { changing } from './filter-link.tsx'
import { FILTER_LABELS, type FilterName } from './filter-names.ts'
import type { LogSearch } from './filters.ts'

/** Values that may be meant, by filter. */
export type Suggestions = { readonly [Name in FilterName]?: readonly { value: string; label?: string }[] }

interface FilterFormProps {
  readonly names: readonly FilterName[]
  readonly search: LogSearch
  readonly suggestions: Suggestions
  readonly onDone: () => void
}

const HINTS: { readonly [Name in FilterName]?: string } = {
  from: 'Exactly this sender',
  to: '+ and the whole number',
  country: 'Two letters: DE',
  mccmnc: 'MCC and MNC: 26201',
  carrierMessageId: 'Of the last 8 days',
}

/** All filters but the status, which has its own links. */
export function FilterForm({ names, search, suggestions, onDone }: FilterFormProps) {
  const navigate = useNavigate()
  const shown = names.filter((name) => name !== 'status')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const entries = shown.map((name) => [name, filterOf(name, String(form.get(name) ?? ''))] as const)
    const change = Object.fromEntries(entries)
    const hasDates = change.fromDate !== undefined || change.toDate !== undefined
    void navigate({
      to: '.',
      search: changing({ ...change, ...(hasDates && { span: undefined }) }),
      resetScroll: false,
    })
    onDone()
  }
  return (
    // Filled anew when the address changes.
    <form className="log-filters" onSubmit={submit} key={JSON.stringify(search)} aria-label="Filters">
      <div className="log-filter-fields">
        {shown.map((name) => (
          <Field key={name} name={name} search={search} suggestions={suggestions[name] ?? []} />
        ))}
      </div>
      <Group justify="space-between" mt="sm" gap="xs">
        <Text size="xs" c="dimmed">
          {names.includes('servicePlanId')
            ? 'Without a service plan, a window has at most 24 hours.'
            : 'A window has at most 31 days.'}
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button size="xs" type="submit">
            Apply
          </Button>
        </Group>
      </Group>
    </form>
  )
}

interface FieldProps {
  readonly name: FilterName
  readonly search: LogSearch
  readonly suggestions: readonly { value: string; label?: string }[]
}

function Field({ name, search, suggestions }: FieldProps) {
  const isDate = name === 'fromDate' || name === 'toDate'
  const value = search[name] ?? ''
  const list = `suggestions-${name}`
  return (
    <div>
      <TextInput
        size="xs"
        name={name}
        label={FILTER_LABELS[name]}
        defaultValue={isDate ? localOf(value) : value}
        placeholder={HINTS[name] ?? ''}
        autoComplete="off"
        spellCheck={false}
        {...(isDate && { type: 'datetime-local', step: 1 })}
        {...(suggestions.length > 0 && { list })}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map(({ value, label }) => (
            <option key={value} value={value} label={label} />
          ))}
        </datalist>
      )}
    </div>
  )
}

/** As the API takes it; undefined for an empty field. */
function filterOf(name: FilterName, typed: string): string | undefined {
  const text = typed.trim()
  if (text === '') return undefined
  if (name === 'fromDate' || name === 'toDate') return instantOf(text)
  if (name === 'country') return text.toUpperCase()
  return name === 'to' ? text.replace(/[\s().-]/g, '') : text
}
