import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { FilterFold } from './filter-fold.tsx'
import { instantOf, localOf } from './filters.ts'

interface Filter {
  /** In the address, and in the API. */
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly isTime?: boolean
  /** Instead of any text. */
  readonly choices?: readonly string[]
}

interface FilterFormProps {
  readonly filters: readonly Filter[]
  /** What the address holds now. */
  readonly values: Readonly<Record<string, string | undefined>>
}

/** The filters of a list, in one row. They apply when the form is sent, and are in the address then. */
export function FilterForm({ filters, values }: FilterFormProps) {
  const navigate = useNavigate()
  const apply = (change: Record<string, string | undefined>) =>
    void navigate({ to: '.', search: (search: object) => ({ ...search, ...change }) } as never)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = filters.map(({ name, isTime }) => {
      const text = String(form.get(name) ?? '').trim()
      return [name, (isTime ? instantOf(text) : text) || undefined] as const
    })
    apply(Object.fromEntries(given))
  }
  const chosen = filters.filter(({ name }) => values[name] !== undefined)
  return (
    <FilterFold applied={chosen.length}>
      {/* Filled anew when the address changes. */}
      <form onSubmit={submit} key={JSON.stringify(values)} aria-label="Filters">
        <Group align="flex-end" gap="xs">
          {filters.map((filter) => (
            <Field key={filter.name} filter={filter} value={values[filter.name] ?? ''} />
          ))}
          <Button type="submit" size="xs">
            Filter
          </Button>
          {chosen.length > 0 && (
            <Button
              size="xs"
              variant="default"
              onClick={() => apply(Object.fromEntries(chosen.map(({ name }) => [name, undefined])))}
            >
              Clear
            </Button>
          )}
        </Group>
      </form>
    </FilterFold>
  )
}

function Field({ filter, value }: { filter: Filter; value: string }) {
  const { name, label, placeholder, isTime, choices } = filter
  if (choices !== undefined) {
    const data = [{ value: '', label: 'Any' }, ...choices.map((choice) => ({ value: choice, label: choice }))]
    return <NativeSelect size="xs" name={name} label={label} defaultValue={value} data={data} />
  }
  return (
    <TextInput
      size="xs"
      w={isTime ? 200 : 150}
      name={name}
      label={label}
      defaultValue={isTime ? localOf(value) : value}
      autoComplete="off"
      spellCheck={false}
      {...(placeholder !== undefined && { placeholder })}
      {...(isTime && { type: 'datetime-local', step: 1 })}
    />
  )
}
