import { Anchor, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Carrier as CarrierSettings } from '../../../../client/src/admin-api.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorQuery } from '../../api/queries.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { CarrierBinds } from './carrier-binds.tsx'
import { CarrierState } from './carrier-state.tsx'

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
          <Section title="Settings" actions={<EditSettings name={name} />}>
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
  const rate = (limit: number | null) => (limit === null ? 'no limit' : `${limit} messages a second`)
  return (
    <KeyValues
      entries={[
        ['SMSC', `${carrier.host}:${carrier.port}`],
        ['TLS', carrier.tls ? `yes, name ${carrier.tlsServerName ?? carrier.host}` : 'no'],
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

function statuses(outcomes: CarrierSettings['submitOutcomes']): string {
  const own = Object.entries(outcomes).map(([status, outcome]) => `${status}: ${outcome}`)
  return own.length === 0 ? 'the default table' : own.join(', ')
}

function Anomalies({ anomalies }: { anomalies: Readonly<Record<string, number>> }) {
  const counted = Object.entries(anomalies).filter(([, count]) => count > 0)
  if (counted.length === 0) return <Text size="sm">None since this node started.</Text>
  return <KeyValues entries={counted.map(([kind, count]) => [kind, count.toLocaleString('en')] as const)} />
}
