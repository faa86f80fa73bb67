import { maskedUrl } from '../../../domain/webhooks/callback-url.ts'
import { invalidField } from '../../../errors.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { oneOf, requestBody } from '../../schemas/shapes.ts'
import { EVENT_TYPES, TestEventSchema } from '../../schemas/webhooks.ts'
import { CallbackUrl, described, ServicePlanId } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const Test = requestBody(
  'TestEventRequest',
  {
    servicePlanId: ServicePlanId,
    type: Type.Optional(
      oneOf(EVENT_TYPES, { title: 'EventType', description: 'Kind of event; default: deliveryReceipt' }),
    ),
    url: Type.Optional(
      described(
        CallbackUrl,
        'Where to send it; default: the default DLR URL of the account; for inboundMessage, the inbound URL of the plan',
      ),
    ),
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', type: 'deliveryReceipt' },
)

/** Sends a signed test event of a plan. */
export function registerWebhookTests(scope: AdminScope, { change, directory, testEvents }: AdminDeps): void {
  addOperation(scope, 'POST /webhook-tests', {
    operationId: 'sendTestWebhookOfPlan',
    summary: 'Test a receiver with an event that never happened',
    description: 'Sends a signed test event at once and returns the result. One a second for each account.',
    tags: ['Webhook administration'],
    body: Test,
    answer: TestEventSchema,
    failures: [429],
    run: async (request) => {
      const { servicePlanId, type = 'deliveryReceipt', url = null } = request.body
      const plan = directory.current().planByPublicId(servicePlanId)
      if (plan === undefined)
        throw invalidField('servicePlanId', 'NOT_FOUND', 'must be an existing service plan')
      const answer = await testEvents.send(plan, type, url)
      const { url: to, delivered, responseStatus } = answer
      const after = { type, url: maskedUrl(to), delivered, responseStatus }
      const objectId = plan.servicePlanId
      // Nothing is stored of the event itself: only its row of the audit log.
      return change(request, async () => {
        return { value: answer, entry: { objectType: 'service-plan', objectId, before: null, after } }
      })
    },
  })
}
