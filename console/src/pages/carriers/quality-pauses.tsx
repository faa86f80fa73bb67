import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { QualityPause } from '../../../../client/src/admin-api.ts'
import { operatorClient } from '../../api/clients.ts'
import { listOf } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorQuery } from '../../api/queries.ts'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { ObjectLink } from '../../kit/object-link.tsx'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'

const POLL_MS = 10_000

/** Carriers that fell below the floor of a route. Nothing when there are none. */
export function QualityPauses() {
  const { mayChange } = useOperator()
  const pauses = useQuery({ ...operatorQuery('listQualityPauses', {}), refetchInterval: POLL_MS })
  const queries = useQueryClient()
  const end = useMutation({
    mutationFn: ({ route, carrier }: QualityPause) => operatorClient.endQualityPause({ route, carrier }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['operator'] }),
  })
  if (pauses.error !== null) return <ErrorState error={pauses.error} onRetry={() => void pauses.refetch()} />
  if (pauses.data === undefined || pauses.data.items.length === 0) return null
  const columns: readonly Column<QualityPause>[] = [
    { key: 'route', title: 'Route', render: ({ route }) => <ObjectLink type="route" id={route} /> },
    { key: 'carrier', title: 'Carrier', render: ({ carrier }) => <ObjectLink type="carrier" id={carrier} /> },
    { key: 'reason', title: 'Reason', render: ({ reason }) => reason },
    { key: 'since', title: 'Since', render: ({ since }) => <Time at={since} /> },
    { key: 'until', title: 'Until', render: ({ until }) => <Time at={until} /> },
    {
      key: 'act',
      title: 'Action',
      render: (pause) => (
        <Button size="compact-xs" variant="default" disabled={!mayChange} onClick={() => end.mutate(pause)}>
          End the pause
        </Button>
      ),
    },
  ]
  return (
    <Section title="Paused by a floor">
      {end.error !== null && <ErrorState error={end.error} />}
      <DataTable
        label="Paused carriers"
        columns={columns}
        list={listOf(pauses, ({ items }) => items)}
        keyOf={({ route, carrier }) => `${route} ${carrier}`}
        empty={null}
      />
    </Section>
  )
}
