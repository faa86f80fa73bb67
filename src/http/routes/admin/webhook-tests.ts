import { Type } from 'typebox'
import { refuseField } from '../../../operations/administration.ts'
import { failures } from '../../schemas/error-body.ts'
import { oneOf, requestBody } from '../../schemas/shapes.ts'
import { EVENT_TYPES, TestEventSchema } from '../../schemas/webhook-event.ts'
import { CallbackUrl, described, ServicePlanId } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Test = requestBody(
  'TestEventRequest',
  {
    servicePlanId: ServicePlanId,
    type: Type.Optional(
      oneOf(EVENT_TYPES, { title: 'EventType', description: 'Kind of event; default: deliveryReceipt' }),
    ),
    url: Type.Optional(described(CallbackUrl, 'Where to send it; default: the URL of the plan')),
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', type: 'deliveryReceipt' },
)

/** A signed event that never happened, as if of a plan. */
export function registerWebhookTests(scope: AdminScope, { directory, testEvents }: AdminDeps): void {
  const response = { ...failures(429), ...answers(200, TestEventSchema) }
  scope.post(
    '/webhook-tests',
    {
      schema: {
        operationId: 'sendTestWebhookOfPlan',
        summary: 'Test a receiver with an event that never happened',
        description:
          'Sends a signed test event at once and returns the result. One a second for each account.',
        tags: ['Webhook administration'],
        body: Test,
        response,
      },
    },
    async ({ body: { servicePlanId, type = 'deliveryReceipt', url = null } }) => {
      const plan = directory.current().planByPublicId(servicePlanId)
      if (plan === undefined)
        throw refuseField('servicePlanId', 'NOT_FOUND', 'must be an existing service plan')
      return testEvents.send(plan, type, url)
    },
  )
}
