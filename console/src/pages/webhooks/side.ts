import type { Redelivered, TestEvent } from '../../../../client/src/api.ts'
import { useCustomer } from '../../api/customer.ts'
import { useOperator } from '../../api/operator.ts'
import type { EventFilters } from './search.ts'

/** Which events are redelivered. */
export interface Redelivery extends Omit<EventFilters, 'state'> {
  readonly state: 'failed' | 'kept'
  readonly dryRun: boolean
  readonly after?: string
}

export interface Test {
  readonly type: 'deliveryReceipt' | 'inboundMessage'
  readonly url?: string
}

/** What the customers' and the admin API both do with an event. */
export interface EventSide {
  /** Whose session it is: the beginning of its keys in the cache. */
  readonly key: 'customer' | 'operator'
  readonly mayChange: boolean
  redeliver(eventId: string): Promise<unknown>
}

/** What both do with the webhooks of a service plan. */
export interface WebhookSide extends EventSide {
  readonly planId: string
  redeliverMany(redelivery: Redelivery, signal?: AbortSignal): Promise<Redelivered>
  pause(destination: string): Promise<unknown>
  resume(destination: string): Promise<unknown>
  sendTest(test: Test): Promise<TestEvent>
}

export function useCustomerSide(): WebhookSide {
  const { client, key, planId, scopes } = useCustomer()
  const plan = { servicePlanId: planId }
  return {
    key,
    planId,
    mayChange: scopes.includes('webhooks'),
    redeliver: (eventId) => client.redeliverWebhookEvent({ ...plan, eventId }),
    redeliverMany: (redelivery, signal) =>
      client.redeliverWebhookEvents({ ...plan, ...redelivery }, { signal }),
    pause: (destination) => client.pauseWebhookDestination({ ...plan, destination }),
    resume: (destination) => client.resumeWebhookDestination({ ...plan, destination }),
    sendTest: (test) => client.sendTestWebhook({ ...plan, ...test }),
  }
}

export function useOperatorEventSide(): EventSide {
  const { client, key, mayChange } = useOperator()
  return { key, mayChange, redeliver: (eventId) => client.redeliverWebhookEventOfPlan({ eventId }) }
}

export function useOperatorSide(planId: string): WebhookSide {
  const { client } = useOperator()
  const plan = { servicePlanId: planId }
  return {
    ...useOperatorEventSide(),
    planId,
    redeliverMany: (redelivery, signal) =>
      client.redeliverWebhookEventsOfPlan({ ...plan, ...redelivery }, { signal }),
    pause: (destination) => client.pauseWebhookDestinationOfPlan({ ...plan, destination }),
    resume: (destination) => client.resumeWebhookDestinationOfPlan({ ...plan, destination }),
    sendTest: (test) => client.sendTestWebhookOfPlan({ ...plan, ...test }),
  }
}
