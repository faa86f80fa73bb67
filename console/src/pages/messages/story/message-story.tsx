import { Button, CopyButton as Copy, Group, Skeleton, Stack } from '@mantine/core'
import { IconCheck, IconCopy, IconRefresh } from '@tabler/icons-react'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { AldisError } from '../../../../../client/src/errors.ts'
import { curlOf } from '../../../kit/curl.ts'
import { EmptyState } from '../../../kit/empty-state.tsx'
import { ErrorState } from '../../../kit/error-state.tsx'
import type { Story, StoryEntry } from './entries.ts'
import { Facts, type ShownMessage } from './message-facts.tsx'
import { StoryView } from './story-view.tsx'
import { WAIT } from './wait-entry.ts'

export interface StoryProps {
  readonly message: ShownMessage | undefined
  readonly error: Error | null
  readonly retry: () => void
  readonly story: Story | undefined
  /** What is copied as JSON. */
  readonly data: unknown
  readonly redeliver: UseMutationResult<unknown, Error, string>
  readonly mayRedeliver: boolean
  /** Of the operator's, or of the customer's. */
  readonly facts: ReactNode
  readonly segmentTexts: ReactNode
}

/** A message and everything that happened to it. */
export function MessageStory(props: StoryProps) {
  const { message, error, retry, story, redeliver } = props
  if (message === undefined || story === undefined) {
    if (error === null) return <Waiting />
    return isNotFound(error) ? <NoMessage /> : <ErrorState error={error} onRetry={retry} />
  }
  const actionsOf = ({ event }: StoryEntry) =>
    event !== undefined &&
    props.mayRedeliver && (
      <Button
        className="story-action"
        size="compact-xs"
        variant={event.state === 'delivered' ? 'subtle' : 'light'}
        leftSection={<IconRefresh size={13} aria-hidden />}
        aria-label={`${event.state === 'pending' ? 'Deliver now' : 'Redeliver'}: ${event.status}`}
        loading={redeliver.isPending && redeliver.variables === event.eventId}
        onClick={() => redeliver.mutate(event.eventId)}
      >
        {event.state === 'pending' ? 'Deliver now' : 'Redeliver'}
      </Button>
    )
  return (
    <Stack gap="md">
      <Facts message={message} segmentTexts={props.segmentTexts} waiting={waitingOf(story)}>
        {props.facts}
      </Facts>
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {redeliver.error !== null && <ErrorState error={redeliver.error} />}
      <StoryView story={story} actionsOf={actionsOf} />
    </Stack>
  )
}

/** What the message waits for, if it does. */
function waitingOf({ entries }: Story): string | null {
  const entry = entries.find(({ id }) => id === WAIT)
  return entry === undefined ? null : (entry.detail ?? entry.title)
}

function isNotFound(error: Error): boolean {
  return error instanceof AldisError && (error.status === 404 || error.status === 400)
}

function NoMessage() {
  return (
    <EmptyState title="No such message">
      It is not among the messages of this service plan, or was deleted after the time that messages are kept.
    </EmptyState>
  )
}

function Waiting() {
  return (
    <div role="status" aria-label="Message: loading">
      <Skeleton height={90} mb="md" />
      <Skeleton height={120} mb="md" />
      <Skeleton height={220} />
    </div>
  )
}

/** Copies the send as a command, and what is known as JSON. */
export function CopyActions({ message, data }: { message: ShownMessage; data: unknown }) {
  const { servicePlanId, from, to, body } = message
  const send = {
    servicePlanId: servicePlanId ?? '',
    channel: 'SMS',
    from: from ?? '',
    to: to ?? '',
    body: body ?? '',
  }
  return (
    <Group gap="xs">
      <CopyText value={curlOf(send)} name="Copy as curl" />
      <CopyText value={JSON.stringify(data, null, 2)} name="Copy as JSON" />
    </Group>
  )
}

function CopyText({ value, name }: { value: string; name: string }) {
  return (
    <Copy value={value}>
      {({ copied, copy }) => (
        <Button
          size="xs"
          variant="default"
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          onClick={copy}
        >
          {copied ? 'Copied' : name}
        </Button>
      )}
    </Copy>
  )
}
