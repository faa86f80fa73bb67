import { NativeSelect } from '@mantine/core'
import { useMatchRoute, useNavigate, useSearch } from '@tanstack/react-router'
import type { SessionPlan } from '../api/session.ts'

/** Which service plan the customer's pages show, where the token is for several. */
export function PlanPicker({ plans }: { plans: readonly SessionPlan[] }) {
  const navigate = useNavigate()
  const { plan } = useSearch({ strict: false }) as { plan?: string }
  const isOperatorPage = useMatchRoute()({ to: '/admin', fuzzy: true }) !== false
  if (plans.length < 2 || isOperatorPage) return null
  const change = (servicePlanId: string) => {
    // What else is in the address may be of the other plan: a cursor, an id.
    void navigate({ to: '.', search: { plan: servicePlanId } } as never)
  }
  return (
    <NativeSelect
      aria-label="Service plan"
      size="xs"
      maw={{ base: 120, xs: 220 }}
      value={plan ?? plans[0]!.servicePlanId}
      onChange={(event) => change(event.currentTarget.value)}
      data={plans.map(({ servicePlanId, name, sandbox }) => ({
        value: servicePlanId,
        label: sandbox ? `${name} (sandbox)` : name,
      }))}
    />
  )
}
