import { Group, Text } from '@mantine/core'
import type { WebhookAttempt, WebhookEventDetail } from '../../../../client/src/api.ts'
import { duration, headerLines } from '../../kit/formats.ts'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { Time } from '../../kit/time.tsx'
import { attemptInWords } from '../../kit/webhook-errors.ts'
import { FoldedText } from './folded-text.tsx'

/** Each attempt and what the receiver made of it, the last one first. */
export function Attempts({ event: { attemptRecords } }: { event: WebhookEventDetail }) {
  if (attemptRecords.length === 0) return <Text size="sm">None yet.</Text>
  return (
    <ol className="webhook-attempts" reversed>
      {attemptRecords.toReversed().map((attempt, index) => (
        <li key={attempt.attempt}>
          <Attempt attempt={attempt} isLast={index === 0} />
        </li>
      ))}
    </ol>
  )
}

function Attempt({ attempt: record, isLast }: { attempt: WebhookAttempt; isLast: boolean }) {
  const { attempt, attemptedAt, latencyMs, responseStatus, error, requestHeaders, responseHead } = record
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          Attempt {attempt}
        </Text>
        <StatusBadge tone={error === null ? 'good' : 'bad'}>
          {responseStatus === null ? 'no answer' : `HTTP ${responseStatus}`}
        </StatusBadge>
        <Text size="sm" c="dimmed" component="span">
          <Time at={attemptedAt} />
        </Text>
        <Text size="sm" c="dimmed">
          after {duration(latencyMs)}
        </Text>
      </Group>
      <Text size="sm">{attemptInWords(record)}</Text>
      <FoldedText name="Headers of the request" text={headerLines(requestHeaders)} isOpen={false} />
      <FoldedText name="Head of the answer" text={responseHead} isOpen={isLast} />
    </>
  )
}
