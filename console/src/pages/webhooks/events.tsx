import { Button, Code, Text } from '@mantine/core'
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import type { WebhookEvent } from '../../../../client/src/api.ts'
import type { List } from '../../api/list.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { EventStateBadge } from '../../kit/event-state-badge.tsx'
import { FilterForm } from '../../kit/filter-form.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'
import { attemptInWords } from '../../kit/webhook-errors.ts'
import { MessageLink } from './message-link.tsx'
import { type EventFilters, FILTERS } from './search.ts'
import type { WebhookSide } from './side.ts'

interface EventsProps {
  readonly side: WebhookSide
  readonly filters: EventFilters
  readonly list: List<WebhookEvent>
}

/** What happened to the messages of the plan, and whether the application was told. */
export function Events({ side, filters, list }: EventsProps) {
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Section title="Events" actions={<Refresh side={side} />}>
      <FilterForm filters={FILTERS} values={filters} />
      <DataTable
        label="Events"
        columns={columnsOf(side)}
        list={list}
        keyOf={({ eventId }) => eventId}
        empty={
          isFiltered ? (
            <EmptyState title="No event matches">Take a filter away.</EmptyState>
          ) : (
            <EmptyState title="Nothing has happened yet">
              Send a message with a <Code>callbackUrl</Code>: each change of its status is an event. So is
              each inbound message.
            </EmptyState>
          )
        }
      />
    </Section>
  )
}

function Refresh({ side }: { side: WebhookSide }) {
  const queries = useQueryClient()
  const queryKey = [side.key, side.key === 'customer' ? 'listWebhookEvents' : 'listWebhookEventsOfPlan']
  const isFetching = useIsFetching({ queryKey }) > 0
  return (
    <Button
      size="compact-xs"
      variant="default"
      // Still a button that has the focus.
      aria-disabled={isFetching}
      onClick={() => void queries.invalidateQueries({ queryKey })}
    >
      Refresh
    </Button>
  )
}

const EVENT_PAGES = {
  customer: '/webhooks/events/$eventId',
  operator: '/admin/webhooks/events/$eventId',
} as const

function columnsOf(side: WebhookSide): readonly Column<WebhookEvent>[] {
  return [
    {
      key: 'event',
      title: 'Event',
      render: (event) => (
        <RowLink to={EVENT_PAGES[side.key]} params={{ eventId: event.eventId }}>
          {titleOf(event)}
        </RowLink>
      ),
    },
    { key: 'msgId', title: 'Message', render: (event) => <MessageLink event={event} side={side} isShort /> },
    { key: 'state', title: 'State', render: ({ state }) => <EventStateBadge state={state} /> },
    { key: 'occurredAt', title: 'Happened', render: ({ occurredAt }) => <Time at={occurredAt} /> },
    { key: 'attempts', title: 'Attempts', align: 'right', render: ({ attempts }) => attempts },
    { key: 'answer', title: 'Last answer', render: (event) => <LastAnswer event={event} /> },
    { key: 'next', title: 'Next attempt by', render: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
    { key: 'destination', title: 'Destination', render: ({ destination }) => destination ?? <NoValue /> },
  ]
}

/** What the event tells: "DELIVERED", or that a message came in. */
export function titleOf({ messageStatus }: Pick<WebhookEvent, 'messageStatus'>): string {
  return messageStatus ?? 'Inbound message'
}

function LastAnswer({ event }: { event: WebhookEvent }) {
  const { attempts, error, responseStatus } = event
  if (attempts === 0) return <NoValue />
  return (
    <Text span size="sm" title={attemptInWords(event)}>
      {responseStatus ?? error}
    </Text>
  )
}
