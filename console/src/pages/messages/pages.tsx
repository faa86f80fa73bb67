import './messages.css'
import './log/log.css'
import './story/facts.css'
import './story/story.css'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useCustomer } from '../../api/customer.ts'
import { operatorQuery } from '../../api/queries.ts'
import { FirstSend } from '../../kit/first-send.tsx'
import { customerColumns, operatorColumns } from './log/columns.tsx'
import { CUSTOMER_FILTERS, OPERATOR_FILTERS } from './log/filter-names.ts'
import type { LogSearch } from './log/filters.ts'
import { MessageLog } from './log/message-log.tsx'
import { NoMessages } from './log/no-messages.tsx'
import { useCustomerLog, useOperatorLog } from './log/source.ts'
import * as message from './message.tsx'

/** The pages of this group, which is one chunk. */

export function CustomerMessages() {
  const { search, open } = useLogSearch()
  const { planId } = useCustomer()
  const source = useCustomerLog(search)
  return (
    <MessageLog
      search={search}
      open={open}
      source={source}
      filters={CUSTOMER_FILTERS}
      suggestions={{}}
      columns={customerColumns}
      exported={CUSTOMER_EXPORT}
      pageOf={(msgId) => ({ to: '/messages/$msgId', params: { msgId } })}
      welcome={<FirstSend planId={planId} />}
    >
      {open !== undefined && <message.CustomerMessage key={open} msgId={open} frame={message.PanelFrame} />}
    </MessageLog>
  )
}

export function CustomerMessage() {
  const { msgId } = useParams({ strict: false }) as { msgId: string }
  return <message.CustomerMessage key={msgId} msgId={msgId} frame={message.PageFrame} />
}

export function OperatorMessages() {
  const { search, open } = useLogSearch()
  const source = useOperatorLog(search)
  return (
    <MessageLog
      search={search}
      open={open}
      source={source}
      filters={OPERATOR_FILTERS}
      suggestions={useSuggestions()}
      columns={operatorColumns}
      exported={OPERATOR_EXPORT}
      pageOf={(msgId) => ({ to: '/admin/messages/$msgId', params: { msgId } })}
      welcome={<NoMessages />}
    >
      {open !== undefined && <message.OperatorMessage key={open} msgId={open} frame={message.PanelFrame} />}
    </MessageLog>
  )
}

export function OperatorMessage() {
  const { msgId } = useParams({ strict: false }) as { msgId: string }
  return <message.OperatorMessage key={msgId} msgId={msgId} frame={message.PageFrame} />
}

/** What the log shows, and apart from it what is open beside it: opening a message does not read the log again. */
function useLogSearch(): { search: LogSearch; open: string | undefined } {
  const { open, ...search } = useSearch({ strict: false }) as LogSearch
  const key = JSON.stringify(search)
  return { search: useMemo(() => JSON.parse(key) as LogSearch, [key]), open }
}

/** The first carriers and plans; others can be typed. */
function useSuggestions() {
  const carriers = useQuery(operatorQuery('listCarriers', {})).data?.items ?? []
  const plans = useQuery(operatorQuery('listServicePlans', {})).data?.items ?? []
  return {
    carrier: carriers.map(({ name }) => ({ value: name })),
    servicePlanId: plans.map(({ servicePlanId, name }) => ({ value: servicePlanId, label: name })),
  }
}

const SHARED_EXPORT = ['msgId', 'createdAt', 'status', 'from', 'to'] as const
const CUSTOMER_EXPORT = [
  ...SHARED_EXPORT,
  'body',
  'segments',
  'price',
  'ptf',
  'currency',
  'country',
  'mccmnc',
  'errorCode',
  'errorMessage',
  'sentAt',
  'updatedAt',
]
const OPERATOR_EXPORT = [
  ...SHARED_EXPORT,
  'accountId',
  'servicePlanId',
  'segments',
  'country',
  'mccmnc',
  'errorCode',
  'carrierCode',
  'route',
  'carrier',
  'sentAt',
  'updatedAt',
]
