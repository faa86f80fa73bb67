import { Button, Skeleton, Text } from '@mantine/core'
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CountryPause, LimitEvent, PlanLimits as Limits } from '../../../../client/src/admin-api.ts'
import { operatorClient } from '../../api/clients.ts'
import { listOf } from '../../api/list.ts'
import { useOperator } from '../../api/operator.ts'
import { operatorQuery } from '../../api/queries.ts'
import { CapBars } from '../../kit/cap-bars.tsx'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { countryName } from '../../kit/formats.ts'
import { Section } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'

const POLL_MS = 10_000

/** How much of its caps a plan has used, the countries that its guard has paused, and what happened before. */
export function PlanLimits({ servicePlanId }: { servicePlanId: string }) {
  const limits = useQuery({ ...operatorQuery('getPlanLimits', { servicePlanId }), refetchInterval: POLL_MS })
  const { data, error, refetch } = limits
  if (data === undefined)
    return (
      <Section title="Limits">
        {error === null ? (
          <Skeleton height={60} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )}
      </Section>
    )
  return (
    <>
      <Section title="Caps">
        {data.usage.length === 0 ? (
          <Text size="sm">This plan has no caps. Set them with Edit.</Text>
        ) : (
          <CapBars usage={data.usage} />
        )}
      </Section>
      {data.pauses.length > 0 && <Pauses servicePlanId={servicePlanId} limits={limits} />}
      {data.events.length > 0 && (
        <Section title="Limit events">
          <DataTable
            label="Limit events"
            columns={EVENTS}
            list={listOf(limits, ({ events }) => events)}
            keyOf={({ at, type, text }) => `${at} ${type} ${text}`}
            empty={null}
          />
        </Section>
      )}
    </>
  )
}

function Pauses({ servicePlanId, limits }: { servicePlanId: string; limits: UseQueryResult<Limits> }) {
  const { mayChange } = useOperator()
  const queries = useQueryClient()
  const resume = useMutation({
    mutationFn: (country: string) => operatorClient.endCountryPause({ servicePlanId, country }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['operator', 'getPlanLimits'] }),
  })
  const columns: readonly Column<CountryPause>[] = [
    { key: 'country', title: 'Country', render: ({ country }) => countryName(country) },
    { key: 'reason', title: 'Reason', render: ({ reason }) => reason },
    { key: 'since', title: 'Since', render: ({ since }) => <Time at={since} /> },
    { key: 'until', title: 'Until', render: ({ until }) => <Time at={until} /> },
    {
      key: 'act',
      title: 'Action',
      render: ({ country }) => (
        <Button
          size="compact-xs"
          variant="default"
          disabled={!mayChange}
          aria-label={`Resume ${countryName(country)}`}
          onClick={() => resume.mutate(country)}
        >
          Resume
        </Button>
      ),
    },
  ]
  return (
    <Section title="Paused countries">
      {resume.error !== null && <ErrorState error={resume.error} />}
      <DataTable
        label="Paused countries"
        columns={columns}
        list={listOf(limits, ({ pauses }) => pauses)}
        keyOf={({ country }) => country}
        empty={null}
      />
    </Section>
  )
}

const EVENTS: readonly Column<LimitEvent>[] = [
  { key: 'at', title: 'When', render: ({ at }) => <Time at={at} /> },
  { key: 'text', title: 'What', render: ({ text }) => text },
]
