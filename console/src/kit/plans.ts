import { useQuery } from '@tanstack/react-query'
import type { ServicePlan } from '../../../client/src/admin-api.ts'
import { operatorClient } from '../api/clients.ts'

/** As many as a choice can show; others are chosen by their id. */
const MOST_PLANS = 2_000
const FRESH_MS = 60_000

/** Service plans to choose from, by name. Of an operator. */
export function usePlans() {
  return useQuery({
    queryKey: ['operator', 'listServicePlans', 'all'],
    queryFn: async ({ signal }) => {
      const plans: ServicePlan[] = []
      for await (const page of operatorClient.pages('listServicePlans', { limit: '1000' }, { signal })) {
        plans.push(...page.items)
        if (plans.length >= MOST_PLANS) break
      }
      return plans.sort((one, other) => one.name.localeCompare(other.name))
    },
    staleTime: FRESH_MS,
  })
}

type Named = Pick<ServicePlan, 'servicePlanId' | 'name'>

/** What a choice of plans shows, and what `planIdIn` understands. */
export function planLabel({ servicePlanId, name }: Named): string {
  return `${name} · ${servicePlanId}`
}

/** The id of the plan that is meant: an id anywhere in the text, or a name that only one plan has. */
export function planIdIn(text: string, plans: readonly Named[]): string | null {
  const id = text.match(/\b[0-9a-f]{24}\b/i)?.[0]
  if (id !== undefined) return id.toLowerCase()
  const wanted = text.trim().toLowerCase()
  const named = plans.filter(({ name }) => name.toLowerCase() === wanted)
  return named.length === 1 ? named[0]!.servicePlanId : null
}
