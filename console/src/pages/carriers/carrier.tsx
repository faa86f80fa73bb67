import { Anchor, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Carrier as CarrierSettings, Route } from '../../../../client/src/admin-api.ts'
import { useList } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorList, operatorQuery } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { counted } from '../../kit/formats.ts'
import { KeyValues } from '../../kit/key-values.tsx'
import { ObjectLink } from '../../kit/object-link.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { CarrierBinds } from './carrier-binds.tsx'
import { CarrierState } from './carrier-state.tsx'
import { isBuiltIn } from './states.ts'

/** One carrier: its sessions on each node, what it does wrong, and its settings. */
export function Carrier() {
  const { name } = useParams({ strict: false }) as { name: string }
  const carrier = useQuery(operatorQuery('getCarrier', { carrier: name }))
  return (
    <>
      <PageHeader
        title={`Carrier ${name}`}
        {...(carrier.data && { actions: <CarrierState carrier={carrier.data} /> })}
      />
      {carrier.error !== null && <ErrorState error={carrier.error} onRetry={() => void carrier.refetch()} />}
      {carrier.isPending && <Skeleton height={160} role="status" aria-label="Carrier: loading" />}
      {carrier.data !== undefined && (
        <>
          <CarrierBinds carrier={name} />
          <Section title="Routes">
            <CarrierRoutes carrier={name} />
          </Section>
          <Section title="Settings" actions={!isBuiltIn(carrier.data) && <EditSettings name={name} />}>
            <Settings carrier={carrier.data} />
          </Section>
          <Section title="Violations of SMPP 3.4">
            <Anomalies anomalies={carrier.data.anomalies} />
          </Section>
        </>
      )}
    </>
  )
}

/** The routes that may send over it. */
function CarrierRoutes({ carrier }: { carrier: string }) {
  const list = useList(operatorList('listRoutes', { carrier }))
  return (
    <DataTable
      label="Routes of the carrier"
      columns={routeColumns(carrier)}
      list={list}
      keyOf={({ name }) => name}
      empty={
        <EmptyState title="No route has this carrier">
          Nothing is sent to it. Add it to a <Link to="/admin/routes">route</Link>.
        </EmptyState>
      }
    />
  )
}

function routeColumns(carrier: string): readonly Column<Route>[] {
  const entryOf = ({ carriers }: Route) => carriers.find((each) => each.carrier === carrier)
  return [
    { key: 'name', title: 'Route', render: ({ name }) => <ObjectLink type="route" id={name} /> },
    { key: 'priority', title: 'Priority', align: 'right', render: (route) => entryOf(route)?.priority },
    { key: 'weight', title: 'Weight', align: 'right', render: (route) => entryOf(route)?.weight },
    { key: 'beside', title: 'Carriers', align: 'right', render: ({ carriers }) => carriers.length },
  ]
}

function EditSettings({ name }: { name: string }) {
  const { mayChange } = useOperator()
  if (!mayChange) return null
  return (
    <Anchor
      component={Link}
      to="/admin/carrier-settings"
      search={{ open: name, view: 'edit' } as never}
      size="sm"
    >
      Edit the settings
    </Anchor>
  )
}

function Settings({ carrier }: { carrier: CarrierSettings }) {
  const rate = (limit: number | null) =>
    limit === null ? 'no limit' : `${counted(limit, 'message')} a second`
  return (
    <KeyValues
      entries={[
        ...(isBuiltIn(carrier)
          ? ([['SMSC', 'Built in: the simulator in each node, which sandbox plans send to']] as const)
          : addressOf(carrier)),
        ['System id', carrier.systemId],
        ['System type', carrier.systemType === '' ? null : carrier.systemType],
        ['Bind mode', carrier.bindMode],
        ['Binds', carrier.binds],
        ['Window', `${carrier.window} unanswered submit_sm a bind`],
        ['Rate', rate(carrier.messagesPerSecond)],
        ['Rate of one sender', rate(carrier.senderMessagesPerSecond)],
        ['Long messages', carrier.longMessages],
        [
          'Validity',
          carrier.validitySeconds === null ? 'that of the message' : `${carrier.validitySeconds} s`,
        ],
        ['Validity format', carrier.validityFormat],
        [
          'Message ids',
          carrier.learnedIdRule === null ? carrier.idRule : `${carrier.idRule}: ${carrier.learnedIdRule}`,
        ],
        ['Statuses', statuses(carrier.submitOutcomes)],
      ]}
    />
  )
}

function addressOf({ host, port, tls, tlsServerName }: CarrierSettings) {
  return [
    ['SMSC', `${host}:${port}`],
    ['TLS', tls ? `yes, name ${tlsServerName ?? host}` : 'no'],
  ] as const
}

function statuses(outcomes: CarrierSettings['submitOutcomes']): string {
  const own = Object.entries(outcomes).map(([status, outcome]) => `${status}: ${outcome}`)
  return own.length === 0 ? 'the default table' : own.join(', ')
}

function Anomalies({ anomalies }: { anomalies: Readonly<Record<string, number>> }) {
  const counted = Object.entries(anomalies).filter(([, count]) => count > 0)
  if (counted.length === 0) return <Text size="sm">None since this node started.</Text>
  return <KeyValues entries={counted.map(([kind, count]) => [kind, count.toLocaleString('en')] as const)} />
}
