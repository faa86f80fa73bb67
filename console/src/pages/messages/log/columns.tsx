import { Text } from '@mantine/core'
import type { ListedMessage } from '../../../../../client/src/admin-api.ts'
import type { DeliveryReceipt } from '../../../../../client/src/api.ts'
import type { Column } from '../../../kit/data-table.tsx'
import { meaningOf } from '../../../kit/error-codes.ts'
import { countryName, money } from '../../../kit/formats.ts'
import { useNameOf } from '../../../kit/named.ts'
import { NoValue } from '../../../kit/no-value.tsx'
import { RowLink } from '../../../kit/row-link.tsx'
import { MessageStatusBadge, StatusBadge } from '../../../kit/status-badge.tsx'
import { Time } from '../../../kit/time.tsx'
import { changing } from './filter-link.tsx'
import type { LoggedMessage } from './source.ts'

/** What the columns of both logs need to know beside the message. */
export interface RowContext {
  readonly open: string | undefined
  readonly changed: ReadonlySet<string>
}

/** The columns beside an open message: the rest is in its story. */
export const NARROW: readonly string[] = ['to', 'status', 'createdAt']

/** Where the focus returns when the message beside the log is closed. */
export function rowId(msgId: string): string {
  return `message-${msgId}`
}

export function customerColumns(row: RowContext): Column<DeliveryReceipt>[] {
  return [
    ...leading(row),
    {
      key: 'body',
      title: 'Text',
      render: ({ body }) => <span className="log-text">{body}</span>,
    },
    ...trailing,
    {
      key: 'price',
      title: 'Price',
      align: 'right',
      render: ({ price, currency }) => (price === null ? <NoValue /> : money(price, currency)),
    },
  ]
}

export function operatorColumns(row: RowContext): Column<ListedMessage>[] {
  return [
    ...leading(row),
    {
      key: 'servicePlanId',
      title: 'Service plan',
      render: ({ servicePlanId }) => <PlanOfRow planId={servicePlanId} />,
    },
    { key: 'carrier', title: 'Carrier', render: ({ carrier }) => carrier ?? <NoValue /> },
    { key: 'route', title: 'Route', render: ({ route }) => route ?? <NoValue /> },
    ...trailing,
    { key: 'carrierCode', title: "Carrier's code", render: ({ carrierCode }) => carrierCode ?? <NoValue /> },
  ]
}

function PlanOfRow({ planId }: { planId: string }) {
  const name = useNameOf('service plan', planId)
  if (name !== undefined) return <span title={planId}>{name}</span>
  return (
    <span className="aldis-mono" title={planId}>
      {planId.slice(0, 8)}…
    </span>
  )
}

function leading({ open, changed }: RowContext): Column<LoggedMessage>[] {
  return [
    {
      key: 'to',
      title: 'To',
      render: ({ msgId, to }) => (
        <RowLink
          id={rowId(msgId)}
          to="."
          search={changing({ open: msgId })}
          resetScroll={false}
          preload={false}
          aria-current={msgId === open ? 'true' : undefined}
        >
          {to}
        </RowLink>
      ),
    },
    {
      key: 'status',
      title: 'Status',
      render: ({ msgId, status }) =>
        changed.has(msgId) ? (
          <StatusBadge tone="neutral">{`NO LONGER ${status}`}</StatusBadge>
        ) : (
          <MessageStatusBadge status={status as DeliveryReceipt['status']} />
        ),
    },
    { key: 'createdAt', title: 'Accepted', render: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'from', title: 'From', render: ({ from }) => from },
  ]
}

const trailing: Column<LoggedMessage>[] = [
  {
    key: 'country',
    title: 'Network',
    render: ({ country, mccmnc }) =>
      country === null ? (
        <NoValue />
      ) : (
        <span title={countryName(country)}>
          {country} {mccmnc}
        </span>
      ),
  },
  {
    key: 'errorCode',
    title: 'Error',
    render: ({ errorCode }) =>
      errorCode === '000' ? (
        <NoValue />
      ) : (
        <span className="log-error" title={meaningOf(errorCode)?.title}>
          <span className="aldis-mono">{errorCode}</span>{' '}
          <Text span size="xs" c="dimmed">
            {meaningOf(errorCode)?.title}
          </Text>
        </span>
      ),
  },
  { key: 'segments', title: 'Segments', align: 'right', render: ({ segments }) => segments },
]
