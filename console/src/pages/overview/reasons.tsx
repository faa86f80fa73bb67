import type { StatisticsSeries } from '../../../../client/src/api.ts'
import { listOf } from '../../api/list.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { meaningOf } from '../../kit/error-codes.ts'
import { Section } from '../../kit/section.tsx'
import { MessageStatusBadge } from '../../kit/status-badge.tsx'
import { Count } from './log-link.tsx'
import { type Traffic, useGroups } from './statistics.ts'

interface Reason {
  readonly status: 'FAILED' | 'UNKNOWN'
  readonly errorCode: string
  readonly count: number
}

/** Why messages were not delivered. */
export function Reasons({ traffic }: { traffic: Traffic }) {
  const groups = useGroups(traffic, 'status,errorCode')
  return (
    <Section title="Not delivered, by error code">
      <DataTable
        label="Messages not delivered by error code"
        columns={columnsOf(traffic)}
        list={listOf(groups, ({ series }) => series.flatMap(reasonOf))}
        keyOf={({ status, errorCode }) => `${status} ${errorCode}`}
        empty={
          <EmptyState title="None failed">
            Messages that fail are counted here by their error code.
          </EmptyState>
        }
      />
    </Section>
  )
}

function reasonOf({ group, totals }: StatisticsSeries): Reason[] {
  const { status, errorCode } = group ?? {}
  if (errorCode == null || (status !== 'FAILED' && status !== 'UNKNOWN')) return []
  return [{ status, errorCode, count: status === 'FAILED' ? totals.failed : totals.unknown }]
}

function columnsOf(traffic: Traffic): readonly Column<Reason>[] {
  const isOperator = traffic.planId === null
  return [
    { key: 'status', title: 'Status', render: ({ status }) => <MessageStatusBadge status={status} /> },
    {
      key: 'reason',
      title: 'Error code',
      render: ({ errorCode }) => {
        const meaning = meaningOf(errorCode)
        return (
          <span title={meaning?.advice} className="aldis-reason">
            <span className="aldis-mono">{errorCode}</span> {meaning?.title}
          </span>
        )
      },
    },
    {
      key: 'count',
      title: 'Messages',
      align: 'right',
      // The log of customers has no filter for error codes.
      render: ({ status, errorCode, count }) => (
        <Count traffic={traffic} value={count} filters={{ status, ...(isOperator && { errorCode }) }} />
      ),
    },
  ]
}
