import './webhooks.css'
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { WebhookEventDetail } from '../../../../client/src/api.ts'
import { customerQuery, operatorQuery } from '../../api/queries.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { EventStateBadge } from '../../kit/event-state-badge.tsx'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'
import { Attempts } from './attempts.tsx'
import { titleOf } from './events.tsx'
import { MessageLink } from './message-link.tsx'
import { Schedule } from './schedule.tsx'
import { type EventSide, useCustomerSide, useOperatorEventSide } from './side.ts'

/** An event that is still to be delivered changes by itself. */
const REFRESH_MS = 3_000

const whilePending = ({ state }: { state: { data: WebhookEventDetail | undefined } }) =>
  state.data?.state === 'pending' ? REFRESH_MS : false

const useEventId = () => (useParams({ strict: false }) as { eventId: string }).eventId

export function CustomerWebhookEvent() {
  const eventId = useEventId()
  const side = useCustomerSide()
  const query = useQuery({
    ...customerQuery('getWebhookEvent', { servicePlanId: side.planId, eventId }),
    refetchInterval: whilePending,
  })
  return <Event side={side} eventId={eventId} query={query} />
}

export function OperatorWebhookEvent() {
  const eventId = useEventId()
  const query = useQuery({
    ...operatorQuery('getWebhookEventOfPlan', { eventId }),
    refetchInterval: whilePending,
  })
  return <Event side={useOperatorEventSide()} eventId={eventId} query={query} />
}

interface EventProps {
  readonly side: EventSide
  readonly eventId: string
  readonly query: UseQueryResult<WebhookEventDetail>
}

/** One event: what it told, each attempt to deliver it, and what comes next. */
function Event({ side, eventId, query: { data: event, error, refetch } }: EventProps) {
  return (
    <>
      <PageHeader
        title={event === undefined ? 'Webhook event' : `Webhook event: ${titleOf(event)}`}
        documentTitle="Webhook event"
        description={<Id value={eventId} of="event" />}
        {...(event !== undefined && side.mayChange && { actions: <Redeliver side={side} event={event} /> })}
      />
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {event === undefined && error === null && (
        <Skeleton height={200} role="status" aria-label="Event: loading" />
      )}
      {event !== undefined && (
        <>
          <Section title="Delivery">
            <Delivery event={event} side={side} />
          </Section>
          <Section title="Schedule">
            <Schedule event={event} />
          </Section>
          <Section title="Attempts">
            <Attempts event={event} />
          </Section>
          {side.key === 'operator' && <CommandLine words={['event', 'show', eventId]} />}
        </>
      )}
    </>
  )
}

function Redeliver({ side, event: { eventId, state } }: { side: EventSide; event: WebhookEventDetail }) {
  const queries = useQueryClient()
  const redeliver = useMutation({
    mutationFn: () => side.redeliver(eventId),
    onSuccess: () => queries.invalidateQueries({ queryKey: [side.key] }),
  })
  return (
    <>
      <Button size="xs" loading={redeliver.isPending} onClick={() => redeliver.mutate()}>
        {state === 'pending' ? 'Deliver now' : 'Redeliver'}
      </Button>
      {redeliver.error !== null && <ErrorState error={redeliver.error} />}
      {redeliver.isSuccess && (
        <Text size="sm" role="status">
          It is due now.
        </Text>
      )}
    </>
  )
}

const STATES = {
  pending:
    'It waits for its next attempt, for its destination to recover, or for the event before it of the same message.',
  delivered: 'The receiver answered 2xx.',
  failed: 'It was given up. Redeliver it when the receiver works.',
  kept: 'There was no URL for it, when it happened or when it was to be sent. Set one, and redeliver it.',
}

function Delivery({ event, side }: { event: WebhookEventDetail; side: EventSide }) {
  const { state, occurredAt, deliveredAt, destination, attempts, nextAttemptAt, servicePlanId } = event
  return (
    <KeyValues
      entries={[
        [
          'State',
          <Group key="state" gap="xs">
            <EventStateBadge state={state} />
            {STATES[state]}
          </Group>,
        ],
        ['Message', <MessageLink key="message" event={event} side={side} />],
        ['Service plan', <Id key="plan" value={servicePlanId} of="service plan" />],
        ['Destination', destination],
        ['Happened', <Time key="happened" at={occurredAt} />],
        ['Delivered', <Time key="delivered" at={deliveredAt} />],
        ['Attempts', attempts],
        ['Next attempt by', <Time key="next" at={nextAttemptAt} />],
      ]}
    />
  )
}
