import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { WebhookEvent } from '../../../../client/src/api.ts'
import type { EventSide } from './side.ts'

interface MessageLinkProps {
  readonly event: Pick<WebhookEvent, 'msgId' | 'type' | 'servicePlanId'>
  readonly side: Pick<EventSide, 'key'>
  /** The beginning and the end of the id are enough. */
  readonly isShort?: boolean
}

/** The message that an event is about, on its page. */
export function MessageLink({ event: { msgId, type, servicePlanId }, side, isShort }: MessageLinkProps) {
  const prefix = side.key === 'operator' ? '/admin' : ''
  const link =
    type === 'inboundMessage'
      ? {
          to: `${prefix}/inbound`,
          search: { open: msgId, ...(side.key === 'operator' && { servicePlanId }) },
        }
      : { to: `${prefix}/messages/${msgId}` }
  return (
    <Anchor component={Link} size="sm" {...(isShort && { title: msgId })} {...(link as { to: '/' })}>
      <span className="aldis-mono">{isShort ? `${msgId.slice(0, HEAD)}…${msgId.slice(-TAIL)}` : msgId}</span>
    </Anchor>
  )
}

const HEAD = 8
const TAIL = 4
