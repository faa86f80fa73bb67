import { useSearch } from '@tanstack/react-router'
import { customerClient } from './clients.ts'
import { type SessionPlan, useSession } from './session.ts'

const CLIENT = { client: customerClient, key: 'customer' } as const

/** What pages of customers use: the client, and the plan that they show. Below `customerRoute` only. */
export function useCustomer() {
  const { plan: wanted } = useSearch({ strict: false }) as { plan?: string }
  const customer = useSession().data?.customer
  if (customer == null) throw new Error('There is no session of a customer')
  const plans = customer.servicePlans
  const plan: SessionPlan | undefined =
    plans.find(({ servicePlanId }) => servicePlanId === wanted) ?? plans[0]
  if (plan === undefined) throw new Error('The token is for no service plan')
  return { ...CLIENT, plan, plans, planId: plan.servicePlanId, scopes: customer.scopes }
}
