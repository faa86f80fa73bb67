import { Button, Group, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { FilterFold } from '../../kit/filter-fold.tsx'
import { labelOf } from './labels.ts'
import type { Field } from './operations.ts'
import { ReferenceInput } from './reference-input.tsx'
import { referredBy } from './resources.ts'
import type { Filters } from './search.ts'

interface FilterFieldsProps {
  readonly fields: readonly Field[]
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
}

/** The filters that the list has in the API. They apply with Enter; the choice of an object at once. */
export function FilterFields({ fields, filters, onChange }: FilterFieldsProps) {
  const names = fields.map(({ name }) => name as keyof Filters)
  const [typed, setTyped] = useState<Filters>(filters)
  const apply = (next: Filters) => {
    const given = names.map((name) => [name, next[name]?.trim() ?? ''] as const)
    onChange(Object.fromEntries(given.filter(([, text]) => text !== '')))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    apply(typed)
  }
  const change = (name: keyof Filters, text: string) => {
    const next = { ...typed, [name]: text }
    setTyped(next)
    return next
  }
  return (
    <FilterFold
      applied={names.filter((name) => filters[name] !== undefined).length}
      isNeeded={fields.some(({ name, required }) => required && !(name in filters))}
    >
      <form onSubmit={submit} aria-label="Filters">
        <Group gap="xs" align="flex-end">
          {names.map((name) => {
            const resource = referredBy(name)
            const shown = { label: labelOf(name), size: 'xs', value: typed[name] ?? '' } as const
            if (resource === undefined)
              return (
                <TextInput
                  key={name}
                  {...shown}
                  onChange={(event) => change(name, event.currentTarget.value)}
                />
              )
            return (
              <ReferenceInput
                key={name}
                {...shown}
                resource={resource}
                inputWrapperOrder={['label', 'input', 'description']}
                onChange={(text, isWhole) => {
                  const next = change(name, text)
                  if (isWhole) apply(next)
                }}
              />
            )
          })}
          <Button type="submit" size="xs" variant="default">
            Filter
          </Button>
        </Group>
      </form>
    </FilterFold>
  )
}
