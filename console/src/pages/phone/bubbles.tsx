import { Text, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { DeliveryReceipt, InboundSmsWebhook } from '../../../../client/src/api.ts'
import { MessageStatusBadge } from '../../kit/status-badge.tsx'
import { exactTime } from '../../kit/time.tsx'
import type { Bubble } from './conversation.ts'

const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** The conversation, oldest first. Screen readers are told of what is added to it. */
export function Bubbles({ bubbles }: { bubbles: readonly Bubble[] }) {
  const days = bubbles.map(({ at }) => DAY.format(new Date(at)))
  return (
    <div className="phone-bubbles" role="log" aria-label="Messages" aria-live="polite">
      {bubbles.length === 0 && (
        <Text size="sm" c="dimmed" ta="center">
          Nothing has been sent to this number yet.
        </Text>
      )}
      {bubbles.map((bubble, index) => (
        <Fragment key={bubble.id}>
          {days[index] !== days[index - 1] && <p className="phone-day">{days[index]}</p>}
          {bubble.kind === 'received' ? (
            <Received message={bubble.message} at={bubble.at} />
          ) : (
            <Sent message={bubble.message} at={bubble.at} />
          )}
        </Fragment>
      ))}
    </div>
  )
}

function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {CLOCK.format(new Date(at))}
    </time>
  )
}

/** What was sent to the handset. One that has not arrived, or never will, is only outlined. */
function Received({ message, at }: { message: DeliveryReceipt; at: string }) {
  const { msgId, from, body, status, errorCode, errorMessage } = message
  return (
    <div className="phone-bubble" data-kind="received" data-status={status}>
      <span className="phone-from">
        <VisuallyHidden component="span">From </VisuallyHidden>
        {from}
      </span>
      <p>{body}</p>
      {status === 'FAILED' && (
        <span className="phone-why">
          Did not arrive. {errorCode}: {errorMessage}
        </span>
      )}
      <span className="phone-meta">
        <Clock at={at} />
        <MessageStatusBadge status={status} />
        <Link
          to="/messages/$msgId"
          params={{ msgId }}
          aria-label={`Story of the message of ${exactTime(at)}`}
        >
          Story
        </Link>
      </span>
    </div>
  )
}

/** What the handset sent to a number of the plan. */
function Sent({ message, at }: { message: InboundSmsWebhook; at: string }) {
  const { to, body, keyword } = message
  return (
    <div className="phone-bubble" data-kind="sent">
      <span className="phone-from">To {to}</span>
      <p>{body}</p>
      <span className="phone-meta">
        <Clock at={at} />
        {keyword !== undefined && <span>keyword {keyword}</span>}
      </span>
    </div>
  )
}
