import { Anchor, Group, Paper, Skeleton, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { WebhookEvent } from '../../../../client/src/api.ts'
import type { List } from '../../api/list.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { EventStateBadge } from '../../kit/event-state-badge.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { Time } from '../../kit/time.tsx'
import { attemptInWords } from '../../kit/webhook-errors.ts'

/** The whole text, as the person wrote it. */
export function MessageText({ text }: { text: string }) {
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
        <Text size="sm" className="inbound-text" dir="auto">
          {text}
        </Text>
        <CopyButton value={text} label="Copy the text" />
      </Group>
    </Paper>
  )
}

interface PartCounts {
  readonly parts: number
  readonly partsExpected: number
}

/** "3", or how many are missing: the text has gaps then. */
export function partsInWords({ parts, partsExpected }: PartCounts): string {
  if (parts === partsExpected) return String(parts)
  return `${parts} of ${partsExpected}: the others did not come, and their text is missing`
}

interface EventOfMessageProps {
  readonly list: List<WebhookEvent>
  readonly to: '/webhooks/events/$eventId' | '/admin/webhooks/events/$eventId'
}

/** Whether the message was pushed to the inbound URL. An inbound message has one event. */
export function EventOfMessage({ list: { items, error, retry }, to }: EventOfMessageProps) {
  const event = items?.[0]
  return (
    <section aria-label="Webhook">
      <Title order={3} size="h6" mb="xs">
        Webhook
      </Title>
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {items === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label="Webhook: loading" />
      )}
      {items?.length === 0 && <Text size="sm">There is no event of this message any more.</Text>}
      {event !== undefined && <EventFacts event={event} to={to} />}
    </section>
  )
}

function EventFacts({ event, to }: { event: WebhookEvent; to: EventOfMessageProps['to'] }) {
  const { eventId, state, destination, attempts, deliveredAt, nextAttemptAt } = event
  return (
    <>
      <KeyValues
        entries={[
          ['State', <EventStateBadge key="state" state={state} />],
          ['Destination', destination],
          ['Attempts', attempts],
          ...(deliveredAt === null ? [] : [['Delivered', <Time key="at" at={deliveredAt} />] as const]),
          ...(nextAttemptAt === null
            ? []
            : [['Next attempt by', <Time key="next" at={nextAttemptAt} />] as const]),
        ]}
      />
      <Text size="sm" my="xs">
        {explained(event)}
      </Text>
      <Anchor component={Link} size="sm" {...({ to, params: { eventId } } as { to: string })}>
        Show every attempt
      </Anchor>
    </>
  )
}

function explained(event: WebhookEvent): string {
  if (event.state === 'kept') return 'The plan had no inbound URL for it. Set one, and redeliver the event.'
  return event.attempts === 0 ? 'It was not tried yet.' : attemptInWords(event)
}
