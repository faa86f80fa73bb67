import type { Queue, WaitingMessages, WaitingWebhooks } from '../../../../client/src/admin-api.ts'
import type { List } from '../../api/list.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { count } from '../../kit/formats.ts'
import { NoValue } from '../../kit/no-value.tsx'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'
import { MESSAGE_CAUSES } from '../../kit/waiting.ts'
import { PageLink } from './attention.tsx'

/** What waits now, by route and cause; nothing when nothing does. */
export function WaitingNow({ queue }: { queue: Queue | undefined }) {
  if (queue === undefined) return null
  const { messages, webhooks } = queue
  return (
    <>
      {messages.length > 0 && (
        <Section title="Messages waiting now">
          <DataTable
            label="Messages waiting"
            columns={MESSAGES}
            list={present(messages)}
            keyOf={({ place, route, carrier, cause }) => `${place} ${route} ${carrier} ${cause}`}
            empty={null}
          />
        </Section>
      )}
      {webhooks.length > 0 && (
        <Section title="Webhook events waiting now">
          <DataTable
            label="Webhook events waiting"
            columns={WEBHOOKS}
            list={present(webhooks)}
            keyOf={({ cause }) => cause}
            empty={null}
          />
        </Section>
      )}
    </>
  )
}

function present<Item>(items: readonly Item[]): List<Item> {
  const nothing = () => {}
  return { items, error: null, hasMore: false, isLoadingMore: false, loadMore: nothing, retry: nothing }
}

const MESSAGES: readonly Column<WaitingMessages>[] = [
  { key: 'route', title: 'Route', render: ({ route }) => route ?? <NoValue /> },
  { key: 'carrier', title: 'Carrier', render: ({ carrier }) => carrier ?? <NoValue /> },
  { key: 'cause', title: 'Why', wraps: true, render: ({ cause }) => MESSAGE_CAUSES[cause] ?? cause },
  { key: 'place', title: 'Where', render: ({ place }) => place },
  {
    key: 'count',
    title: 'Messages',
    align: 'right',
    render: (waiting) => (
      <PageLink
        to="/admin/messages"
        search={{ status: 'QUEUED', ...(waiting.carrier !== null && { carrier: waiting.carrier }) }}
        className="aldis-quiet-link"
      >
        {count(waiting.count)}
      </PageLink>
    ),
  },
  { key: 'oldest', title: 'Oldest', render: ({ oldestAt }) => <Time at={oldestAt} /> },
]

const WEBHOOK_CAUSES: Readonly<Record<string, string>> = {
  due: 'waiting for room in memory',
  retry: 'waiting for their next attempt',
  behind: 'waiting for an earlier event of their message',
  'breaker-open': 'waiting for a destination that fails',
  paused: 'waiting for a destination that is paused',
  recovering: 'waiting for a destination that is recovering',
}

const WEBHOOKS: readonly Column<WaitingWebhooks>[] = [
  { key: 'cause', title: 'Why', wraps: true, render: ({ cause }) => WEBHOOK_CAUSES[cause] ?? cause },
  { key: 'count', title: 'Events', align: 'right', render: (waiting) => count(waiting.count) },
  { key: 'oldest', title: 'Oldest', render: ({ oldestAt }) => <Time at={oldestAt} /> },
]
