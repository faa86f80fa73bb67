import { Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { operatorQuery } from '../api/queries.ts'
import { EmptyState } from './empty-state.tsx'
import { useNamed } from './named.ts'
import { PlanField } from './plan-field.tsx'

const SHOWN = 10

/** Which plan the address is about: operators' lists that the API has by plan. What else it holds is of another plan. */
const about = (servicePlanId: string) => ({ to: '.', search: { servicePlanId } }) as never

/** The plan of an operator's page, and a field that leads to another one. */
export function PlanOfPage({ planId }: { planId: string }) {
  const navigate = useNavigate()
  return (
    <PlanField
      // What was typed is gone once it is the plan of the page.
      key={planId}
      label="Service plan"
      size="xs"
      planId={planId}
      onChoose={(chosen) => chosen !== null && chosen !== planId && void navigate(about(chosen))}
    />
  )
}

/** In the place of a page that needs a service plan in its address. */
export function ChoosePlan({ children }: { children: ReactNode }) {
  const plans = useNamed('service plan')
  const navigate = useNavigate()
  return (
    <EmptyState title="Choose a service plan">
      <Text size="sm" mb="sm">
        {children}
      </Text>
      <PlanField
        label="Service plan"
        onChoose={(chosen) => chosen !== null && void navigate(about(chosen))}
      />
      <Group gap="xs" justify="center" mt="md">
        {plans.slice(0, SHOWN).map(({ id, name }) => (
          <Anchor key={id} component={Link} size="sm" to="." search={{ servicePlanId: id } as never}>
            {name}
          </Anchor>
        ))}
      </Group>
    </EmptyState>
  )
}

/** The name of a plan, where it is known; otherwise its id. Of an operator. */
export function PlanName({ planId }: { planId: string }) {
  const { data } = useQuery(operatorQuery('getServicePlan', { servicePlanId: planId }))
  return <>{data?.name ?? planId}</>
}
