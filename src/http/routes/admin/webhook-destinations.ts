import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { keyOfPlan } from '../../../operations/manage/configuration-rows.ts'
import {
  pauseDestination,
  resumeDestination,
  retryWaiting,
} from '../../../operations/manage/webhook-destinations.ts'
import type { Queryable } from '../../../store/database.ts'
import { findDestination, listDestinations } from '../../../store/webhook-destinations.ts'
import { requestBody } from '../../schemas/shapes.ts'
import { WebhookDestinationSchema } from '../../schemas/webhooks.ts'
import { described, PlainText, pageQuery, ServicePlanId } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addList } from './resource.ts'

const Text = described(PlainText, 'Scheme, host and port: https://hooks.example.com')

/** Where the webhooks of a plan go. */
export function registerWebhookDestinations(scope: AdminScope, { change, reads }: AdminDeps): void {
  const tags = ['Webhook administration']

  addList(scope, '/webhook-destinations', {
    operationId: 'listWebhookDestinationsOfPlan',
    summary: 'List the webhook destinations of a service plan',
    description: 'Destinations that are in trouble, paused, or have events waiting.',
    tags,
    query: pageQuery(Text, { servicePlanId: ServicePlanId }),
    item: WebhookDestinationSchema,
    fetch: async ({ query: { servicePlanId, after = '' } }, limit) =>
      listDestinations(reads, { planId: await keyOfPlan(reads, servicePlanId), after, limit }),
    keyOf: ({ destination }) => destination,
    present: (destination) => destination,
  })

  const body = requestBody(
    'DestinationRequest',
    { servicePlanId: ServicePlanId, destination: Text },
    { servicePlanId: '65f0c0ffee65f0c0ffee65f0', destination: 'https://hooks.example.com' },
  )
  const pause = {
    operationId: 'pauseWebhookDestinationOfPlan',
    summary: 'Pause a webhook destination',
    description: 'Nothing more is sent to it. Its events wait until it is resumed.',
  }
  const resume = {
    operationId: 'resumeWebhookDestinationOfPlan',
    summary: 'Resume a webhook destination',
    description: 'Ends a pause by the customer or the operator, and closes an open breaker.',
  }
  for (const [verb, text, make] of [
    ['pause', pause, pauseDestination],
    ['resume', resume, resumeDestination],
  ] as const)
    addOperation(scope, `POST /webhook-destinations/${verb}`, {
      ...text,
      tags,
      body,
      answer: WebhookDestinationSchema,
      run: async (request) => {
        const { servicePlanId, destination } = request.body
        const objectId = `${canonicalPublicId(servicePlanId)}/${destination}`
        const object = { objectType: 'webhook-destination', objectId }
        const planId = await change(request, async (transaction) => {
          const planId = await keyOfPlan(transaction, servicePlanId)
          const before = await findDestination(transaction, planId, destination)
          const after = await make(transaction, planId, destination, 'operator')
          return { value: planId, entry: { ...object, before, after } }
        })
        const runBatch = (batch: (db: Queryable) => Promise<number>) =>
          change(request, async (transaction) => {
            const retried = await batch(transaction)
            const entry = { ...object, before: null, after: { retried } }
            return { value: retried, entry: retried === 0 ? null : entry }
          })
        if (verb === 'resume') await retryWaiting(runBatch, planId, destination)
        return findDestination(reads, planId, destination)
      },
    })
}
