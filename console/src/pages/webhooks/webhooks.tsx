import './webhooks.css'
import { Button, Code } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { WebhookDestination, WebhookEvent } from '../../../../client/src/api.ts'
import { useCustomer } from '../../api/customer.ts'
import { type List, useList } from '../../api/list.ts'
import { customerList, operatorList } from '../../api/queries.ts'
import { ChoosePlan, PlanOfPage } from '../../kit/choose-plan.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { PageHeader } from '../../kit/page-header.tsx'
import { Destinations } from './destinations.tsx'
import { Events } from './events.tsx'
import { RedeliverDialog } from './redeliver-dialog.tsx'
import { customerSearch, type EventFilters, operatorSearch } from './search.ts'
import { useCustomerSide, useOperatorSide, type WebhookSide } from './side.ts'
import { TestDialog } from './test-dialog.tsx'
import { Listening, Verifying } from './verifying.tsx'

const DESCRIPTION = 'What the application was told, where that went, and what it answered.'

export function CustomerWebhooks() {
  const { scopes } = useCustomer()
  if (scopes.includes('webhooks')) return <OfCustomer />
  return (
    <>
      <PageHeader title="Webhooks" description={DESCRIPTION} />
      <EmptyState title="Your token does not have the scope “webhooks”">
        Ask an operator for one that has: <Code>aldis token create --scope read,webhooks</Code>
      </EmptyState>
    </>
  )
}

const PAGE = 50
const DESTINATIONS_REFRESH_MS = 5_000

function OfCustomer() {
  const side = useCustomerSide()
  const filters = customerSearch(useSearch({ strict: false }))
  const plan = { servicePlanId: side.planId }
  const events = useList(customerList('listWebhookEvents', { ...plan, ...filters, limit: PAGE }))
  const destinations = useList(customerList('listWebhookDestinations', plan), DESTINATIONS_REFRESH_MS)
  // What is open is of one plan.
  return <Webhooks key={side.planId} {...{ side, filters, events, destinations }} />
}

/** Those of one service plan, as the admin API lists them. */
export function OperatorWebhooks() {
  const { servicePlanId, ...filters } = operatorSearch(useSearch({ strict: false }))
  if (servicePlanId !== undefined) return <OfPlan planId={servicePlanId} filters={filters} />
  return (
    <>
      <PageHeader title="Webhooks" description={DESCRIPTION} />
      <ChoosePlan>Webhooks are listed by service plan.</ChoosePlan>
    </>
  )
}

function OfPlan({ planId, filters }: { planId: string; filters: EventFilters }) {
  const side = useOperatorSide(planId)
  const plan = { servicePlanId: planId }
  const events = useList(
    operatorList('listWebhookEventsOfPlan', { ...plan, ...filters, limit: String(PAGE) }),
  )
  const destinations = useList(operatorList('listWebhookDestinationsOfPlan', plan), DESTINATIONS_REFRESH_MS)
  return (
    <Webhooks key={planId} {...{ side, filters, events, destinations }}>
      <PlanOfPage planId={planId} />
    </Webhooks>
  )
}

interface WebhooksProps {
  readonly side: WebhookSide
  readonly filters: EventFilters
  readonly events: List<WebhookEvent>
  readonly destinations: List<WebhookDestination>
  readonly children?: ReactNode
}

function Webhooks({ side, filters, events, destinations, children }: WebhooksProps) {
  const [dialog, setDialog] = useState<'test' | 'redeliver' | null>(null)
  const close = () => setDialog(null)
  return (
    <>
      <PageHeader
        title="Webhooks"
        description={DESCRIPTION}
        actions={
          <>
            {side.mayChange && (
              <>
                <Button size="xs" variant="default" onClick={() => setDialog('test')}>
                  Send a test event
                </Button>
                <Button size="xs" variant="default" onClick={() => setDialog('redeliver')}>
                  Redeliver many
                </Button>
              </>
            )}
            {children}
          </>
        }
      />
      <Destinations side={side} list={destinations} />
      <Events side={side} filters={filters} list={events} />
      <Listening />
      <Verifying />
      <TestDialog side={side} opened={dialog === 'test'} onClose={close} />
      <RedeliverDialog side={side} filters={filters} opened={dialog === 'redeliver'} onClose={close} />
    </>
  )
}
