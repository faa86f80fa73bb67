import type { ServicePlan, Token } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'

/** Why a token may not send with a plan, in the order of the checks. */
export type PlanRefusal =
  | 'SERVICE_PLAN_NOT_FOUND'
  | 'FORBIDDEN'
  | 'SERVICE_PLAN_INACTIVE'
  | 'SERVICE_PLAN_INCOMPLETE'

/** Whether the token's account owns the plan and the token is not limited to others. */
function covers(token: Token, plan: ServicePlan): boolean {
  return token.planIds === null || token.planIds.has(plan.id)
}

/** The plan to send with, or the refusal. A foreign plan and one that does not exist are refused alike. */
export function planForSending(
  directory: Directory,
  token: Token,
  servicePlanId: string,
): ServicePlan | PlanRefusal {
  const plan = directory.planByPublicId(servicePlanId)
  if (plan === undefined || plan.account.id !== token.account.id) return 'SERVICE_PLAN_NOT_FOUND'
  if (!covers(token, plan)) return 'FORBIDDEN'
  if (!plan.active) return 'SERVICE_PLAN_INACTIVE'
  return plan.route === null ? 'SERVICE_PLAN_INCOMPLETE' : plan
}

/** The plan, active or not, whose records the token may read; null is 403, whether the plan exists elsewhere or nowhere. */
export function planForReading(
  directory: Directory,
  token: Token,
  servicePlanId: string,
): ServicePlan | null {
  const plan = directory.planByPublicId(servicePlanId)
  if (plan === undefined || plan.account.id !== token.account.id || !covers(token, plan)) return null
  return plan
}

/** Every plan whose records the token may read. */
export function readablePlanIds(directory: Directory, token: Token): readonly number[] {
  const known = readable.get(token)
  if (known !== undefined) return known
  const plans = directory.contents.plans.filter((plan) => plan.account.id === token.account.id)
  const ids = plans.filter((plan) => covers(token, plan)).map((plan) => plan.id)
  readable.set(token, ids)
  return ids
}

/** Each snapshot has its own Token objects, so what is cached for one goes with its snapshot. */
const readable = new WeakMap<Token, readonly number[]>()
