import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ExplainedCarrier, RouteExplanation as Explanation } from '../../../../client/src/admin-api.ts'
import { explain } from '../../api/errors.ts'
import { listOf } from '../../api/list.ts'
import { operatorQuery } from '../../api/queries.ts'
import { PlanName } from '../../kit/choose-plan.tsx'
import { CommandLine } from '../../kit/command-line.tsx'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { countryName } from '../../kit/formats.ts'
import { KeyValues } from '../../kit/key-values.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { ObjectLink } from '../../kit/object-link.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { ExplainForm } from './explain-form.tsx'
import { explainSearchOf } from './explain-search.ts'
import { conditionTone } from './states.ts'

/** Why a message to a number would take which carrier, and what it would cost. Nothing is sent. */
export function RouteExplanation() {
  const search = explainSearchOf(useSearch({ strict: false }))
  const { servicePlanId, from, to, body } = search
  const isAsked = servicePlanId !== undefined && from !== undefined && to !== undefined
  const explanation = useQuery({
    ...operatorQuery('explainRoute', {
      servicePlanId: servicePlanId ?? '',
      from: from ?? '',
      to: to ?? '',
      body,
    }),
    enabled: isAsked,
  })
  const { data, error } = explanation
  const faults = error === null ? NO_FAULTS : explain(error).faults
  return (
    <>
      <PageHeader
        title="Route explanation"
        description="Which carrier a message would take, why, and at which price."
      />
      <ExplainForm key={JSON.stringify(search)} search={search} faults={faults} />
      {!isAsked && (
        <EmptyState title="Name a service plan, a sender and a recipient">Nothing is sent.</EmptyState>
      )}
      {error !== null && Object.keys(faults).length === 0 && <ErrorState error={error} />}
      {data !== undefined && isAsked && (
        <>
          <Answer explanation={data} />
          {data.route !== null && (
            <Section title="Carriers">
              <DataTable
                label="Carriers of the route"
                columns={COLUMNS}
                list={listOf(explanation, ({ carriers }) => carriers)}
                keyOf={({ carrier }) => carrier}
                empty={
                  <EmptyState title="The route has no carrier">The message would wait for one.</EmptyState>
                }
              />
            </Section>
          )}
          <CommandLine words={['route', 'explain', '--plan', servicePlanId, '--from', from, '--to', to]} />
        </>
      )}
    </>
  )
}

const NO_FAULTS = {}

function Answer({ explanation }: { explanation: Explanation }) {
  const { servicePlanId, problems, country, mccmnc, encoding, segments, charge } = explanation
  return (
    <Section title="Decision">
      {problems.length > 0 && (
        <Alert color="orange" variant="light" title="This message would not be sent" mb="sm">
          <ul className="aldis-list">
            {problems.map(({ errorCode, errorMessage }) => (
              <li key={errorCode}>
                {errorCode}: {errorMessage}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      <KeyValues
        entries={[
          [
            'Service plan',
            <ObjectLink key="plan" type="service-plan" id={servicePlanId}>
              <PlanName planId={servicePlanId} />
            </ObjectLink>,
          ],
          ...routeEntries(explanation),
          ['Country', country === null ? null : countryName(country)],
          ['Network', mccmnc],
          ['Encoding', encoding],
          ['Segments', segments],
          ['Price', charge === null ? null : `${charge.price} ${charge.currency}`],
          ['Pass-through fee', charge === null ? null : `${charge.ptf} ${charge.currency}`],
          ['Rate', charge === null ? null : <Numbered key="rate" type="rate" id={charge.rate.rateId} />],
        ]}
      />
    </Section>
  )
}

/** Without a route, nothing chose one. */
function routeEntries({ route, rule }: Explanation) {
  if (route === null)
    return [['Route', 'None: no routing rule matches, and the plan has no route of its own']] as const
  return [
    ['Route', <ObjectLink key="route" type="route" id={route} />],
    [
      'Chosen by',
      rule === null ? 'the service plan' : <Numbered key="rule" type="routing-rule" id={rule.ruleId} />,
    ],
  ] as const
}

/** "rate 12" */
function Numbered({ type, id }: { type: string; id: number }) {
  return (
    <ObjectLink type={type} id={String(id)}>
      {type.replace('-', ' ')} {id}
    </ObjectLink>
  )
}

const COLUMNS: readonly Column<ExplainedCarrier>[] = [
  { key: 'carrier', title: 'Carrier', render: ({ carrier }) => <ObjectLink type="carrier" id={carrier} /> },
  {
    key: 'condition',
    title: 'Condition',
    render: ({ condition }) => <StatusBadge tone={conditionTone(condition)}>{condition}</StatusBadge>,
  },
  { key: 'share', title: 'Share now', align: 'right', render: ({ share }) => `${share} %` },
  { key: 'priority', title: 'Priority', align: 'right', render: ({ priority }) => priority },
  { key: 'weight', title: 'Weight', align: 'right', render: ({ weight }) => weight },
  { key: 'reason', title: 'Reason', render: ({ reason }) => reason ?? <NoValue /> },
]
