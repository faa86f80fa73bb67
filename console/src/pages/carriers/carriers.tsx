import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ListedCarrier } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorList } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { isBuiltIn, OPERATING_TONES } from './states.ts'

const POLL_MS = 5_000

/** Every carrier, with its binds on all nodes. */
export function Carriers() {
  const { mayChange } = useOperator()
  const list = useList(operatorList('listCarriers', {}), POLL_MS)
  return (
    <>
      <PageHeader
        title="Carriers"
        description="SMPP connections to the networks."
        actions={
          mayChange && (
            <Button component={Link} to="/admin/carrier-settings" search={{ view: 'new' } as never} size="xs">
              New carrier
            </Button>
          )
        }
      />
      <DataTable
        label="Carriers"
        columns={COLUMNS}
        list={list}
        keyOf={({ carrierId }) => String(carrierId)}
        empty={
          <EmptyState title="There is no carrier yet">
            Add one with “New carrier”: docs/carriers.md says what its settings mean.
          </EmptyState>
        }
      />
    </>
  )
}

const COLUMNS: readonly Column<ListedCarrier>[] = [
  {
    key: 'name',
    title: 'Carrier',
    render: ({ name }) => (
      <RowLink to="/admin/carriers/$name" params={{ name }}>
        {name}
      </RowLink>
    ),
  },
  {
    key: 'state',
    title: 'State',
    render: ({ state }) => <StatusBadge tone={OPERATING_TONES[state]}>{state}</StatusBadge>,
  },
  { key: 'binds', title: 'Binds', render: (carrier) => <Binds carrier={carrier} /> },
  {
    key: 'error',
    title: 'Last error',
    wraps: true,
    render: ({ bindStates }) => <LastError binds={bindStates} />,
  },
  {
    key: 'address',
    title: 'SMSC',
    render: (carrier) =>
      isBuiltIn(carrier) ? (
        'built in'
      ) : (
        <span className="aldis-mono">{`${carrier.host}:${carrier.port}${carrier.tls ? ' TLS' : ''}`}</span>
      ),
  },
  { key: 'systemId', title: 'System id', render: ({ systemId }) => systemId },
  { key: 'window', title: 'Window', align: 'right', render: ({ window }) => window },
  {
    key: 'unanswered',
    title: 'Unanswered',
    align: 'right',
    render: ({ bindStates }) => bindStates.reduce((sum, bind) => sum + (bind.unanswered ?? 0), 0),
  },
  {
    key: 'rate',
    title: 'Messages a second',
    align: 'right',
    render: ({ messagesPerSecond }) => messagesPerSecond ?? 'no limit',
  },
]

/** "2 of 2 bound", on all nodes. */
function Binds({ carrier: { state, bindStates } }: { carrier: ListedCarrier }) {
  const bound = bindStates.filter((bind) => bind.state === 'bound').length
  if (state === 'stopped' && bound === 0) return <NoValue />
  const tone = bound === bindStates.length ? 'good' : bound === 0 ? 'bad' : 'warning'
  return <StatusBadge tone={tone}>{`${bound} of ${bindStates.length} bound`}</StatusBadge>
}

/** Of a bind that is down, why; of one that is bound it is past. */
function LastError({ binds }: { binds: ListedCarrier['bindStates'] }) {
  const errors = binds.filter(({ state }) => state !== 'bound').flatMap((bind) => bind.errors.slice(0, 1))
  const [last] = errors.toSorted((one, other) => other.at.localeCompare(one.at))
  if (last === undefined) return <NoValue />
  return [last.error, last.status ?? last.detail].filter((part) => part !== null).join(': ')
}
