import './inbound.css'
import { Code, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { InboundSmsWebhook } from '../../../../client/src/api.ts'
import { useCustomer } from '../../api/customer.ts'
import { useList } from '../../api/list.ts'
import { customerList, customerQuery } from '../../api/queries.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { FilterForm } from '../../kit/filter-form.tsx'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { LinkButton } from '../../kit/link-button.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { exactTime } from '../../kit/time.tsx'
import { MESSAGE_COLUMNS } from './message-columns.tsx'
import { MessageDrawer } from './message-drawer.tsx'
import { EventOfMessage, MessageText } from './message-parts.tsx'
import { customerSearch, FILTERS, THE_BEGINNING } from './search.ts'

const PAGE = 50

/** What people wrote to the numbers of the plan. */
export function CustomerInbound() {
  const { planId } = useCustomer()
  const { open, ...filters } = customerSearch(useSearch({ strict: false }))
  const isFiltered = Object.keys(filters).length > 0
  const query = isFiltered ? filters : { fromDate: THE_BEGINNING }
  const list = useList(customerList('listInboundMessages', { servicePlanId: planId, limit: PAGE, ...query }))
  const message = useQuery({
    ...customerQuery('getInboundMessage', { servicePlanId: planId, msgId: open ?? '' }),
    enabled: open !== undefined,
  })
  return (
    <>
      <PageHeader
        title="Inbound messages"
        description="What people wrote to your numbers, the newest first."
      />
      <FilterForm filters={FILTERS} values={filters} />
      <DataTable
        label="Inbound messages"
        columns={MESSAGE_COLUMNS}
        list={list}
        keyOf={({ msgId }) => msgId}
        empty={isFiltered ? <NoMatch /> : <NoMessage />}
      />
      <MessageDrawer msgId={open} query={message}>
        {(shown) => <Message message={shown} />}
      </MessageDrawer>
    </>
  )
}

function NoMatch() {
  return <EmptyState title="No message matches">Take a filter away: each must match exactly.</EmptyState>
}

function NoMessage() {
  return (
    <EmptyState title="Nobody has written yet">
      Messages to the numbers of this service plan appear here, and go to its inbound URL. An operator gives
      it a number with <Code>aldis number create</Code>, and a URL with{' '}
      <Code>aldis plan update --inbound-url</Code>.
    </EmptyState>
  )
}

function Message({ message }: { message: InboundSmsWebhook }) {
  const { msgId, from, to, keyword, body, receivedAt } = message
  const { scopes, plan } = useCustomer()
  return (
    <>
      <MessageText text={body} />
      <KeyValues
        entries={[
          ['From', <Id key="from" value={from} of="sender" />],
          ['To', <Id key="to" value={to} of="number" />],
          ['Keyword', keyword ?? null],
          ['Service plan', plan.name],
          ['Received', exactTime(receivedAt)],
          ['Message id', <Id key="id" value={msgId} of="message" />],
        ]}
      />
      <Group gap="xs">
        {scopes.includes('send') && (
          // The reply goes the other way.
          <LinkButton size="xs" to="/compose" search={{ from: to, to: from } as never}>
            Reply
          </LinkButton>
        )}
        {plan.sandbox && (
          <LinkButton size="xs" variant="default" to="/phone" search={{ number: from } as never}>
            See it on the phone
          </LinkButton>
        )}
      </Group>
      {scopes.includes('webhooks') ? (
        <Event msgId={msgId} />
      ) : (
        <Text size="sm" c="dimmed">
          Your token needs the scope <Code>webhooks</Code> to see what became of the webhook.
        </Text>
      )}
    </>
  )
}

function Event({ msgId }: { msgId: string }) {
  const { planId } = useCustomer()
  const list = useList(customerList('listWebhookEvents', { servicePlanId: planId, msgId }))
  return <EventOfMessage list={list} to="/webhooks/events/$eventId" />
}
