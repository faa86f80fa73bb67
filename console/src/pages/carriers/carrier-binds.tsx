import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { CarrierBindState, CarrierNode } from '../../../../client/src/admin-api.ts'
import { listOf } from '../../api/list.ts'
import { operatorQuery } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { Section } from '../../kit/section.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { Time } from '../../kit/time.tsx'
import { bindTone, conditionTone } from './states.ts'

const POLL_MS = 3_000

/** The binds of a carrier on all nodes, and what each node can do with it. */
export function CarrierBinds({ carrier }: { carrier: string }) {
  const binds = useQuery({ ...operatorQuery('listCarrierBinds', { carrier }), refetchInterval: POLL_MS })
  return (
    <>
      <Section title="Binds">
        <DataTable
          label="Binds"
          columns={BINDS}
          list={listOf(binds, (report) => report.binds)}
          keyOf={({ number, type }) => `${number} ${type}`}
          empty={<EmptyState title="There are no binds" />}
        />
      </Section>
      <Section title="Nodes">
        <DataTable
          label="Nodes with binds"
          columns={NODES}
          list={listOf(binds, (report) => report.nodes)}
          keyOf={({ node }) => node}
          empty={<EmptyState title="No node has a bind">Start the carrier, or look at the nodes.</EmptyState>}
        />
      </Section>
    </>
  )
}

const BINDS: readonly Column<CarrierBindState>[] = [
  { key: 'number', title: 'Bind', render: ({ number, type }) => `${number} ${type}` },
  { key: 'node', title: 'Node', render: ({ node }) => node ?? <NoValue /> },
  {
    key: 'state',
    title: 'State',
    render: ({ state }) => <StatusBadge tone={bindTone(state)}>{state}</StatusBadge>,
  },
  { key: 'since', title: 'Since', render: ({ since }) => <Time at={since} /> },
  { key: 'retryAt', title: 'Next attempt', render: ({ retryAt }) => <Time at={retryAt} /> },
  {
    key: 'window',
    title: 'Window',
    align: 'right',
    render: ({ unanswered, window }) => `${unanswered ?? '–'} of ${window}`,
  },
  { key: 'errors', title: 'Last errors', wraps: true, render: ({ errors }) => <Errors errors={errors} /> },
]

function Errors({ errors }: Pick<CarrierBindState, 'errors'>) {
  if (errors.length === 0) return <NoValue />
  return (
    <>
      {errors.map(({ at, error, status, detail, count }) => (
        <div key={`${error} ${status} ${detail}`}>
          {[error, status, detail].filter((part) => part !== null).join(', ')}
          {count > 1 && ` (${count} times)`}{' '}
          <Text span size="xs" c="dimmed">
            <Time at={at} />
          </Text>
        </div>
      ))}
    </>
  )
}

const NODES: readonly Column<CarrierNode>[] = [
  { key: 'node', title: 'Node', render: ({ node }) => node },
  {
    key: 'condition',
    title: 'Condition',
    render: ({ condition }) => <StatusBadge tone={conditionTone(condition)}>{condition}</StatusBadge>,
  },
  { key: 'queued', title: 'Queued', align: 'right', render: ({ queued }) => queued.toLocaleString('en') },
  {
    key: 'sent',
    title: 'Sent in the last second',
    align: 'right',
    render: ({ sentLastSecond }) => sentLastSecond,
  },
  {
    key: 'configured',
    title: 'Share of the rate',
    align: 'right',
    render: ({ configuredRate }) => (configuredRate === null ? 'no limit' : `${configuredRate}/s`),
  },
  {
    key: 'measured',
    title: 'Measured limit',
    align: 'right',
    render: ({ measuredRate }) => (measuredRate === null ? 'not throttled' : `${measuredRate}/s`),
  },
]
