import { Button, CloseButton, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type FieldInputProps, type Shown, shownOf } from './input-props.ts'
import { Fault } from './object-input.tsx'
import { SimpleInput } from './simple-input.tsx'
import type { Values } from './values.ts'

/** A list of objects, each in a row of inputs: the carriers of a route, the headers of an account. */
export function ListInput(props: FieldInputProps) {
  const { field, path, value, onChange, faults, isChange } = props
  const shown = shownOf(props)
  const rows = (value as readonly Values[] | null | undefined) ?? []
  const isKept = isChange && value === undefined
  const replace = (at: number, row: Values) =>
    onChange(rows.map((each, index) => (index === at ? row : each)))
  return (
    <Frame
      shown={shown}
      addLabel={`Add to ${shown.label.toLowerCase()}`}
      onAdd={() => onChange([...rows, {}])}
    >
      {isKept && <Text size="xs">They are kept as they are. Adding one replaces all.</Text>}
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own, and are removed by their place
        <Group key={at} gap="xs" align="flex-start">
          {field.control.item!.fields!.map((part) => (
            <SimpleInput
              key={part.name}
              field={part}
              path={`${path}.${at}.${part.name}`}
              value={row[part.name]}
              onChange={(changed) => replace(at, { ...row, [part.name]: changed })}
              faults={faults}
              isChange={false}
            />
          ))}
          <CloseButton
            aria-label={`Remove ${shown.label.toLowerCase()} ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          />
        </Group>
      ))}
    </Frame>
  )
}

type Pair = readonly [key: string, value: string]

/** Keys and values: what a command_status means. */
export function MapInput(props: FieldInputProps) {
  const { path, value, onChange, faults } = props
  const shown = shownOf(props)
  // As they were typed: an object cannot hold two rows whose keys are still empty.
  const [pairs, setPairs] = useState<readonly Pair[]>(() =>
    Object.entries((value ?? {}) as Record<string, string>),
  )
  const change = (next: readonly Pair[]) => {
    setPairs(next)
    onChange(Object.fromEntries(next.filter(([key]) => key !== '')))
  }
  const replace = (at: number, pair: Pair) => change(pairs.map((each, index) => (index === at ? pair : each)))
  return (
    <Frame
      shown={shown}
      addLabel={`Add to ${shown.label.toLowerCase()}`}
      onAdd={() => change([...pairs, ['', '']])}
    >
      {pairs.map(([key, text], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key changes while it is typed
        <Group key={at} gap="xs" align="flex-start">
          <TextInput
            size="xs"
            label="Status"
            value={key}
            onChange={(event) => replace(at, [event.currentTarget.value, text])}
          />
          <TextInput
            size="xs"
            label="Meaning"
            value={text}
            error={faults[`${path}.${key}`]}
            onChange={(event) => replace(at, [key, event.currentTarget.value])}
          />
          <CloseButton
            aria-label={`Remove ${shown.label.toLowerCase()} ${at + 1}`}
            onClick={() => change(pairs.filter((_, index) => index !== at))}
          />
        </Group>
      ))}
    </Frame>
  )
}

interface FrameProps {
  readonly shown: Shown
  readonly addLabel: string
  readonly onAdd: () => void
  readonly children: React.ReactNode
}

function Frame({ shown, addLabel, onAdd, children }: FrameProps) {
  return (
    <Fieldset legend={shown.label} variant="filled" p="sm">
      <Stack gap="xs" align="flex-start">
        {shown.description !== undefined && (
          <Text size="xs" c="dimmed">
            {shown.description}
          </Text>
        )}
        {children}
        <Button size="xs" variant="default" onClick={onAdd}>
          {addLabel}
        </Button>
        <Fault text={shown.error} />
      </Stack>
    </Fieldset>
  )
}
