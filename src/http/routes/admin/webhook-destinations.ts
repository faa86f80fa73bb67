import { Type } from 'typebox'
import { keyOfPlan } from '../../../operations/named-rows.ts'
import { pauseDestination, resumeDestination } from '../../../operations/pause-destinations.ts'
import { listDestinations } from '../../../store/destination-list.ts'
import { requestBody } from '../../schemas/titled.ts'
import { presentDestination, WebhookDestinationSchema } from '../../schemas/webhook-event.ts'
import { limitOf, PublicId, page, pageOf, pageQuery } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Text = Type.String({ maxLength: 300, description: 'Scheme, host and port' })

/** Where the webhooks of a plan go. */
export function registerWebhookDestinations(scope: AdminScope, { db, reads }: AdminDeps): void {
  const tags = ['Webhook administration']

  const Query = pageQuery(Text, { servicePlanId: PublicId })
  scope.get(
    '/webhook-destinations',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(WebhookDestinationSchema)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const planId = await keyOfPlan(reads, query.servicePlanId)
      const rows = await listDestinations(reads, { planId, after: query.after ?? '', limit: fetched })
      return page(rows, shown, ({ destination }) => destination, presentDestination)
    },
  )

  const body = requestBody(
    'DestinationRequest',
    { servicePlanId: PublicId, destination: Text },
    { servicePlanId: '65f0c0ffee65f0c0ffee65f0', destination: 'https://hooks.example.com' },
  )
  for (const [verb, change] of [
    ['pause', pauseDestination],
    ['resume', resumeDestination],
  ] as const)
    scope.post(
      `/webhook-destinations/${verb}`,
      { schema: { tags, body, response: answers(200, WebhookDestinationSchema) } },
      async ({ body: { servicePlanId, destination } }) => {
        const planId = await keyOfPlan(db, servicePlanId)
        return presentDestination(await change(db, planId, destination, 'operator'))
      },
    )
}
