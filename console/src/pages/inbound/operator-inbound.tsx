import './inbound.css'
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { InspectedInboundMessage } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { operatorList, operatorQuery } from '../../api/queries.ts'
import { ChoosePlan, PlanName, PlanOfPage } from '../../kit/choose-plan.tsx'
import { CommandLine } from '../../kit/command-line.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { FilterForm } from '../../kit/filter-form.tsx'
import { Id } from '../../kit/id.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { exactTime } from '../../kit/time.tsx'
import { MESSAGE_COLUMNS } from './message-columns.tsx'
import { MessageDrawer } from './message-drawer.tsx'
import { EventOfMessage, MessageText, partsInWords } from './message-parts.tsx'
import { FILTERS, operatorSearch } from './search.ts'

const PAGE = '50'

/** Inbound messages of one service plan, as the admin API lists them. */
export function OperatorInbound() {
  const { open, servicePlanId, ...filters } = operatorSearch(useSearch({ strict: false }))
  const message = useQuery({
    ...operatorQuery('getInboundMessageOfPlan', { msgId: open ?? '' }),
    enabled: open !== undefined,
  })
  return (
    <>
      <PageHeader
        title="Inbound messages"
        description="What people wrote to the numbers of a service plan, the newest first."
        actions={
          <>
            <UnownedLink />
            {servicePlanId !== undefined && <PlanOfPage planId={servicePlanId} />}
          </>
        }
      />
      {servicePlanId === undefined ? (
        <ChoosePlan>Inbound messages are listed by service plan.</ChoosePlan>
      ) : (
        <Messages planId={servicePlanId} filters={filters} />
      )}
      <MessageDrawer msgId={open} query={message}>
        {(shown) => <Message message={shown} />}
      </MessageDrawer>
    </>
  )
}

function UnownedLink() {
  return (
    <Anchor component={Link} size="sm" to="/admin/inbound/unowned">
      Unowned messages
    </Anchor>
  )
}

type Filters = Omit<ReturnType<typeof operatorSearch>, 'open' | 'servicePlanId'>

function Messages({ planId, filters }: { planId: string; filters: Filters }) {
  const list = useList(
    operatorList('listInboundMessagesOfPlan', { servicePlanId: planId, limit: PAGE, ...filters }),
  )
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <FilterForm filters={FILTERS} values={filters} />
      <DataTable
        label="Inbound messages"
        columns={MESSAGE_COLUMNS}
        list={list}
        keyOf={({ msgId }) => msgId}
        empty={isFiltered ? <NoMatch /> : <NoMessage planId={planId} />}
      />
    </>
  )
}

function NoMatch() {
  return <EmptyState title="No message matches">Take a filter away: each must match exactly.</EmptyState>
}

function NoMessage({ planId }: { planId: string }) {
  return (
    <EmptyState title="Nobody has written to this plan yet">
      Give it a number, and the URL that its messages are pushed to:
      <CommandLine words={['number', 'create', '+15557654321', '--plan', planId]} />
      <CommandLine words={['plan', 'update', planId, '--inbound-url', 'URL']} />
    </EmptyState>
  )
}

function Message({ message }: { message: InspectedInboundMessage }) {
  const { accountId, servicePlanId, msgId, carrier, from, to, keyword, body, receivedAt } = message
  const list = useList(operatorList('listWebhookEventsOfPlan', { servicePlanId, msgId }))
  return (
    <>
      <MessageText text={body} />
      <KeyValues
        entries={[
          ['From', <Id key="from" value={from} of="sender" />],
          ['To', <Id key="to" value={to} of="number" />],
          ['Keyword', keyword],
          ['Service plan', <PlanName key="plan" planId={servicePlanId} />],
          ['Account', <Id key="account" value={accountId} of="account" />],
          ['Carrier', carrier],
          ['Parts', partsInWords(message)],
          ['Received', exactTime(receivedAt)],
          ['Message id', <Id key="id" value={msgId} of="message" />],
        ]}
      />
      <EventOfMessage list={list} to="/admin/webhooks/events/$eventId" />
      <CommandLine words={['inbound', 'show', msgId]} />
    </>
  )
}
