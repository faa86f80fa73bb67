import { Box, Button, Loader, Text } from '@mantine/core'
import { IconAntennaBars5, IconBattery4 } from '@tabler/icons-react'
import type { SandboxNumber } from '../../../../client/src/api.ts'
import { useCustomer } from '../../api/customer.ts'
import { useList } from '../../api/list.ts'
import { customerList } from '../../api/queries.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { useNow } from '../../kit/time.tsx'
import { Bubbles } from './bubbles.tsx'
import { conversationOf } from './conversation.ts'
import { ReplyForm } from './reply-form.tsx'

const POLL_MS = 2_000
const PAGE = 50

interface HandsetProps {
  readonly number: string
  /** Those of the plan, which it can reply to. */
  readonly plan: readonly SandboxNumber[]
}

/** The handset of a number, with its conversation. Messages are read again every two seconds while it can be seen. */
export function Handset({ number, plan }: HandsetProps) {
  const { planId: servicePlanId } = useCustomer()
  const received = useList(customerList('listMessages', { servicePlanId, to: number, limit: PAGE }), POLL_MS)
  const sent = useList(
    customerList('listInboundMessages', { servicePlanId, from: number, limit: PAGE }),
    POLL_MS,
  )
  const error = received.error ?? sent.error
  const lists = [received, sent].filter(({ hasMore }) => hasMore)
  return (
    <section className="phone-handset" aria-label={`Handset ${number}`}>
      <div className="phone-screen">
        <StatusLine />
        <Text component="h2" className="phone-number">
          {number}
        </Text>
        {/* Focusable, so that the keyboard scrolls it. */}
        <Box className="phone-scroll" tabIndex={0} role="region" aria-label="Conversation">
          <div>
            {lists.length > 0 && (
              <Button
                size="compact-xs"
                variant="subtle"
                fullWidth
                loading={lists.some(({ isLoadingMore }) => isLoadingMore)}
                onClick={() => {
                  for (const { loadMore } of lists) loadMore()
                }}
              >
                Earlier messages
              </Button>
            )}
            {received.items !== undefined && sent.items !== undefined ? (
              <Bubbles
                bubbles={conversationOf(
                  { items: received.items, hasMore: received.hasMore },
                  { items: sent.items, hasMore: sent.hasMore },
                )}
              />
            ) : (
              error === null && (
                <Loader aria-label="Conversation: loading" size="sm" m="auto" display="block" />
              )
            )}
            {error !== null && <ErrorState error={error} />}
          </div>
        </Box>
        <ReplyForm number={number} plan={plan} />
      </div>
    </section>
  )
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function StatusLine() {
  return (
    <div className="phone-status" aria-hidden>
      <span>{CLOCK.format(useNow())}</span>
      <span>
        <IconAntennaBars5 size={16} stroke={2} />
        <IconBattery4 size={18} stroke={1.6} />
      </span>
    </div>
  )
}
