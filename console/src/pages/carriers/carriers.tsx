import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Carrier } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorList } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { RowLink } from '../../kit/row-link.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { bindTone, isBuiltIn, OPERATING_TONES } from './states.ts'

const POLL_MS = 5_000

/** Every carrier, with its sessions on the node that answers. */
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

const COLUMNS: readonly Column<Carrier>[] = [
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
  {
    key: 'link',
    title: 'Link',
    render: ({ link }) =>
      link === null ? <NoValue /> : <StatusBadge tone={bindTone(link.state)}>{link.state}</StatusBadge>,
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
  { key: 'binds', title: 'Binds', align: 'right', render: ({ binds }) => binds },
  { key: 'window', title: 'Window', align: 'right', render: ({ window }) => window },
  {
    key: 'unanswered',
    title: 'Unanswered',
    align: 'right',
    render: ({ link }) => link?.unanswered ?? <NoValue />,
  },
  {
    key: 'rate',
    title: 'Messages a second',
    align: 'right',
    render: ({ messagesPerSecond }) => messagesPerSecond ?? 'no limit',
  },
  { key: 'error', title: 'Last error', render: ({ link }) => link?.lastError ?? <NoValue /> },
]
