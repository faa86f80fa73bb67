import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookDestination } from '../../../../client/src/api.ts'
import type { List } from '../../api/list.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { count } from '../../kit/formats.ts'
import { NoValue } from '../../kit/no-value.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { Section } from '../../kit/section.tsx'
import { StatusBadge, type Tone } from '../../kit/status-badge.tsx'
import { Time } from '../../kit/time.tsx'
import { attemptInWords } from '../../kit/webhook-errors.ts'
import { PauseDialog } from './pause-dialog.tsx'
import type { WebhookSide } from './side.ts'

/** Where the webhooks of the plan go, as far as something is wrong there or waits. */
export function Destinations({ side, list }: { side: WebhookSide; list: List<WebhookDestination> }) {
  const [isPausing, setPausing] = useState(false)
  return (
    <Section
      title="Destinations"
      actions={
        side.mayChange && (
          <Button size="compact-xs" variant="default" onClick={() => setPausing(true)}>
            Pause a destination
          </Button>
        )
      }
    >
      <DataTable
        label="Destinations"
        columns={side.mayChange ? [...COLUMNS, actionColumn(side)] : COLUMNS}
        list={list}
        keyOf={({ destination }) => destination}
        empty={
          <EmptyState title="Every destination works">
            A destination is listed here when it fails, is paused, or has events waiting.
          </EmptyState>
        }
      />
      {(list.items?.length ?? 0) > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          Messages are counted by the first event of each that is to be delivered: to be retried after a
          failure, or parked until the destination works. The events behind it are pending too.
        </Text>
      )}
      <PauseDialog side={side} opened={isPausing} onClose={() => setPausing(false)} />
    </Section>
  )
}

const TONES = {
  delivering: 'good',
  open: 'bad',
  paused: 'warning',
  recovering: 'info',
} as const satisfies Record<WebhookDestination['state'], Tone>

const COLUMNS: readonly Column<WebhookDestination>[] = [
  {
    key: 'destination',
    title: 'Destination',
    render: ({ destination }) => (
      <RowLink
        to="."
        search={((search: object) => ({ ...search, destination })) as never}
        resetScroll={false}
        title="Show its events"
      >
        {destination}
      </RowLink>
    ),
  },
  { key: 'state', title: 'State', render: (item) => <State destination={item} /> },
  { key: 'since', title: 'Since', render: ({ since }) => <Time at={since} /> },
  { key: 'waiting', title: 'Messages to retry', align: 'right', render: ({ waiting }) => atMost(waiting) },
  { key: 'parked', title: 'Messages parked', align: 'right', render: ({ parked }) => atMost(parked) },
  { key: 'failed', title: 'Events failed', align: 'right', render: ({ failed }) => atMost(failed) },
  { key: 'error', title: 'Why it opened', wraps: true, render: ({ error }) => <Why error={error} /> },
]

function State({ destination: { state, pausedBy } }: { destination: WebhookDestination }) {
  return (
    <Group gap={6} wrap="nowrap">
      <StatusBadge tone={TONES[state]}>{state}</StatusBadge>
      {pausedBy !== null && <Text size="xs">by the {pausedBy}</Text>}
    </Group>
  )
}

/** A destination has the name of the error alone, without the status of the answer. */
function Why({ error }: { error: string | null }) {
  if (error === null) return <NoValue />
  if (error === 'HTTP_STATUS') return 'The receiver did not answer 2xx.'
  return attemptInWords({ error, responseStatus: null })
}

/** As many as are counted. */
const MOST_COUNTED = 10_000

function atMost(events: number): string {
  return events >= MOST_COUNTED ? `${count(MOST_COUNTED)} or more` : count(events)
}

function actionColumn(side: WebhookSide): Column<WebhookDestination> {
  return {
    key: 'action',
    title: 'Action',
    render: (destination) => <Actions side={side} destination={destination} />,
  }
}

function Actions({ side, destination: item }: { side: WebhookSide; destination: WebhookDestination }) {
  const { destination, state, pausedBy, waiting, parked } = item
  const queries = useQueryClient()
  const act = useMutation({
    mutationFn: (verb: 'pause' | 'resume') => side[verb](destination),
    onSuccess: () => queries.invalidateQueries({ queryKey: [side.key] }),
  })
  const button = (verb: 'pause' | 'resume', text: string) => (
    <Button
      size="compact-xs"
      variant="default"
      loading={act.isPending}
      aria-label={`${text} ${destination}`}
      onClick={() => act.mutate(verb)}
    >
      {text}
    </Button>
  )
  const mayResume =
    state === 'open' || (state === 'paused' && (pausedBy !== 'operator' || side.key === 'operator'))
  return (
    <>
      <Group gap={6} wrap="nowrap">
        {mayResume && button('resume', 'Resume')}
        {!mayResume && state !== 'paused' && waiting + parked > 0 && button('resume', 'Try now')}
        {state !== 'paused' && button('pause', 'Pause')}
        {state === 'paused' && !mayResume && <Text size="xs">Only the operator resumes it</Text>}
      </Group>
      {act.error !== null && <ErrorState error={act.error} />}
    </>
  )
}
