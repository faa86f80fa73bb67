import { Alert, Button, Group, List, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import type { ExplainedCarrier, RouteExplanation as Explanation } from '../../../../client/src/admin-api.ts'
import { listOf } from '../../api/list.ts'
import { operatorQuery } from '../../api/queries.ts'
import { CommandLine } from '../../kit/command-line.tsx'
import { type Column, DataTable } from '../../kit/data-table.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { KeyValues } from '../../kit/key-values.tsx'
import { NoValue } from '../../kit/no-value.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Section } from '../../kit/section.tsx'
import { StatusBadge } from '../../kit/status-badge.tsx'
import { type ExplainSearch, explainSearchOf } from './explain-search.ts'
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
  return (
    <>
      <PageHeader
        title="Route explanation"
        description="Which carrier a message would take, why, and at which price."
      />
      <Form key={JSON.stringify(search)} search={search} />
      {!isAsked && (
        <EmptyState title="Name a service plan, a sender and a recipient">Nothing is sent.</EmptyState>
      )}
      {explanation.error !== null && <ErrorState error={explanation.error} />}
      {explanation.data !== undefined && isAsked && (
        <>
          <Answer explanation={explanation.data} />
          <Section title="Carriers">
            <DataTable
              label="Carriers of the route"
              columns={COLUMNS}
              list={listOf(explanation, ({ carriers }) => carriers)}
              keyOf={({ carrier }) => carrier}
              empty={
                <EmptyState title="The route has no carrier">The message would wait, or fail.</EmptyState>
              }
            />
          </Section>
          <CommandLine words={['route', 'explain', '--plan', servicePlanId, '--from', from, '--to', to]} />
        </>
      )}
    </>
  )
}

const LABELS = { servicePlanId: 'Service plan', from: 'From', to: 'To', body: 'Text (optional)' }
const PLACEHOLDERS = { servicePlanId: '24 hex digits', from: 'Example', to: '+15551230001', body: '' }

function Form({ search }: { search: ExplainSearch }) {
  const navigate = useNavigate()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = Object.fromEntries(new FormData(event.currentTarget))
    void navigate({ to: '/admin/explain', search: explainSearchOf(given) })
  }
  const field = (name: keyof typeof LABELS, w: number) => (
    <TextInput
      name={name}
      label={LABELS[name]}
      placeholder={PLACEHOLDERS[name]}
      defaultValue={search[name] ?? ''}
      required={name !== 'body'}
      withAsterisk={false}
      size="sm"
      w={w}
    />
  )
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm" mb="md">
        {field('servicePlanId', 240)}
        {field('from', 150)}
        {field('to', 170)}
        {field('body', 220)}
        <Button type="submit">Explain</Button>
      </Group>
    </form>
  )
}

function Answer({ explanation }: { explanation: Explanation }) {
  const { problems, route, rule, country, mccmnc, encoding, segments, charge } = explanation
  return (
    <Section title="Decision">
      {problems.length > 0 && (
        <Alert color="orange" variant="light" title="This message would not be sent" mb="sm">
          <List size="sm">
            {problems.map(({ errorCode, errorMessage }) => (
              <List.Item key={errorCode}>
                {errorCode}: {errorMessage}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <KeyValues
        entries={[
          ['Route', route],
          ['Chosen by', rule === null ? 'the service plan' : `routing rule ${rule.ruleId}`],
          ['Country', country],
          ['Network', mccmnc],
          ['Encoding', encoding],
          ['Segments', segments],
          ['Price', charge === null ? null : `${charge.price} ${charge.currency}`],
          ['Pass-through fee', charge === null ? null : `${charge.ptf} ${charge.currency}`],
          ['Rate', charge === null ? null : `rate ${charge.rate.rateId}`],
        ]}
      />
    </Section>
  )
}

const COLUMNS: readonly Column<ExplainedCarrier>[] = [
  { key: 'carrier', title: 'Carrier', render: ({ carrier }) => carrier },
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
