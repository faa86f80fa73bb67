import { Button, Group, Text } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { LinkButton } from '../../kit/link-button.tsx'
import { Section } from '../../kit/section.tsx'
import { SuggestInput } from '../../kit/suggest-input.tsx'
import { compactNumber, isHandsetNumber } from './handset-number.ts'

const MOST_RECENT = 6

interface NumberPickerProps {
  readonly number: string
  /** Numbers that the plan has sent to, the newest first. */
  readonly recent: readonly string[]
}

/** Whose handset it is. */
export function NumberPicker({ number, recent }: NumberPickerProps) {
  const [typed, setTyped] = useState(number)
  const navigate = useNavigate()
  const wanted = compactNumber(typed)
  const isValid = isHandsetNumber(wanted)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isValid) void navigate({ to: '/phone', search: { number: wanted } })
  }
  const others = recent.filter((each) => each !== number).slice(0, MOST_RECENT)
  return (
    <Section
      title="Number"
      actions={
        <LinkButton
          to="/compose"
          search={{ to: number }}
          size="xs"
          variant="default"
          leftSection={<IconPencil size={14} aria-hidden />}
        >
          Send a message to it
        </LinkButton>
      }
    >
      <form onSubmit={submit} noValidate>
        <Group align="flex-start" gap="xs" wrap="nowrap">
          <SuggestInput
            aria-label="Number of the handset"
            placeholder="+15551230000"
            inputMode="tel"
            flex={1}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            suggestions={recent.map((value) => ({ value }))}
            error={typed !== '' && !isValid && 'Write it as +, country code, number'}
          />
          <Button type="submit" disabled={!isValid || wanted === number}>
            Open
          </Button>
        </Group>
      </form>
      {others.length > 0 && (
        <Group gap={6} mt="sm" component="section" aria-label="Recent numbers">
          <Text size="sm" c="dimmed">
            Recent
          </Text>
          {others.map((each) => (
            <LinkButton
              key={each}
              to="/phone"
              search={{ number: each }}
              size="compact-sm"
              variant="default"
              fw={400}
            >
              {each}
            </LinkButton>
          ))}
        </Group>
      )}
    </Section>
  )
}
