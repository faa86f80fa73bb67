import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Node } from '../../../../client/src/admin-api.ts'
import { listOf } from '../../api/list.ts'
import { operatorQuery } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { Time, useNow } from '../../kit/time.tsx'

const POLL_MS = 5_000

/** Every node of the installation, as the others see it and as it reports itself. */
export function Nodes() {
  const nodes = useQuery({ ...operatorQuery('listNodes', {}), refetchInterval: POLL_MS })
  return (
    <>
      <PageHeader
        title="Nodes"
        description="A node holds a lease, which it renews. When the lease ends, other nodes take over its work."
      />
      <DataTable
        label="Nodes"
        columns={COLUMNS}
        list={listOf(nodes, ({ items }) => items)}
        keyOf={({ nodeId }) => String(nodeId)}
        empty={<EmptyState title="No node has a lease">Start one with “aldis serve”.</EmptyState>}
      />
    </>
  )
}

const COLUMNS: readonly Column<Node>[] = [
  {
    key: 'name',
    title: 'Node',
    render: ({ name }) => (
      <Text span inherit fw={500}>
        {name}
      </Text>
    ),
  },
  { key: 'state', title: 'State', render: (node) => <NodeState node={node} /> },
  { key: 'role', title: 'Role', render: ({ role }) => role },
  {
    key: 'host',
    title: 'Host',
    render: ({ host, pid }) => (host === null ? <NoValue /> : `${host}, pid ${pid}`),
  },
  { key: 'version', title: 'Version', render: ({ version }) => version ?? <NoValue /> },
  {
    key: 'worker',
    title: 'Worker',
    render: ({ worker, workers }) => (worker === null ? <NoValue /> : `${worker} of ${workers}`),
  },
  { key: 'since', title: 'Since', render: ({ since }) => <Time at={since} /> },
  {
    key: 'heartbeat',
    title: 'Last heartbeat',
    render: ({ lastHeartbeatAt }) => <Time at={lastHeartbeatAt} />,
  },
  { key: 'buckets', title: 'Buckets', align: 'right', render: ({ buckets }) => `${buckets} of 256` },
  number('binds', 'Binds', ({ binds }) => binds),
  number('bound', 'Bound sessions', ({ boundLinks }) => boundLinks),
  number('progress', 'Messages in progress', ({ messagesInProgress }) => messagesInProgress),
  number('held', 'Messages to submit', ({ messagesHeld }) => messagesHeld),
  number('webhooks', 'Messages with events', ({ webhooksHeld }) => webhooksHeld),
]

function number(key: string, title: string, countOf: (node: Node) => number | null): Column<Node> {
  const render = (node: Node) => countOf(node)?.toLocaleString('en') ?? <NoValue />
  return { key, title, align: 'right', render }
}

function NodeState({ node }: { node: Node }) {
  const now = useNow()
  if (Date.parse(node.leaseEndsAt) < now) return <StatusBadge tone="bad">lease ended</StatusBadge>
  if (node.draining === true) return <StatusBadge tone="info">draining</StatusBadge>
  return <StatusBadge tone="good">alive</StatusBadge>
}
