import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookEvent, WebhookEventDetail } from '../../../../../client/src/api.ts'
import { useCustomer } from '../../../api/customer.ts'
import { useOperator } from '../../../api/operator.ts'
import { customerQuery, operatorQuery } from '../../../api/queries.ts'
import { customerStory } from './customer-story.ts'
import type { StoryEvent } from './entries.ts'
import { nextLookMs } from './next-look.ts'
import { operatorStory } from './operator-story.ts'

/** Events of one message: one for each change of its status. */
const MOST_EVENTS = 100

/** A message as its customer may know it. */
export function useCustomerStory(msgId: string) {
  const { planId: servicePlanId, client, scopes } = useCustomer()
  const [refetchInterval, look] = useState<number | false>(false)
  const { data: message, ...read } = useQuery({
    ...customerQuery('getMessage', { servicePlanId, msgId }),
    refetchInterval,
  })
  const wait = useQuery({
    ...customerQuery('getMessageWait', { servicePlanId, msgId }),
    enabled: message?.status === 'QUEUED',
    refetchInterval,
  })
  const list = useQuery({
    ...customerQuery('listWebhookEvents', { servicePlanId, msgId, limit: MOST_EVENTS }),
    enabled: scopes.includes('webhooks'),
    refetchInterval,
  })
  const listed = list.data?.items ?? []
  const details = useQueries({
    queries: listed.map(({ eventId }) => ({
      ...customerQuery('getWebhookEvent', { servicePlanId, eventId }),
      refetchInterval,
    })),
  })
  const events = listed
    .map((event, index) => eventOf(details[index]?.data ?? { ...event, attemptRecords: [] }))
    .reverse()
  const next = message === undefined ? false : nextLookMs(message, events, Date.now())
  if (next !== refetchInterval) look(next)
  return {
    message,
    error: read.error ?? list.error,
    retry: () => void Promise.all([read.refetch(), list.refetch()]),
    story: message && customerStory(message, events, wait.data ?? null, read.dataUpdatedAt),
    data: { message, webhookEvents: details.flatMap(({ data }) => data ?? []) },
    redeliver: useRedeliver('customer', (eventId) =>
      client.redeliverWebhookEvent({ eventId, servicePlanId }),
    ),
    mayRedeliver: scopes.includes('webhooks'),
  }
}

function eventOf({ messageStatus, ...event }: WebhookEventDetail | (WebhookEvent & { attemptRecords: [] })) {
  return { ...event, status: messageStatus ?? '' }
}

/** A message with everything that is known about it. */
export function useOperatorStory(msgId: string) {
  const { client, mayChange } = useOperator()
  const [refetchInterval, look] = useState<number | false>(false)
  const { data: message, ...read } = useQuery({
    ...operatorQuery('getMessageOfPlans', { msgId }),
    refetchInterval,
  })
  const servicePlanId = message?.servicePlanId ?? ''
  const list = useQuery({
    ...operatorQuery('listWebhookEventsOfPlan', { servicePlanId, msgId }),
    enabled: message !== undefined,
    refetchInterval,
  })
  // All events of a message go to one URL.
  const destination = list.data?.items.find(({ destination }) => destination !== null)?.destination ?? null
  const events = (message?.webhookEvents ?? []).map(
    ({ event, dueAt, ...rest }): StoryEvent => ({
      ...rest,
      nextAttemptAt: dueAt,
      destination,
      attemptRecords: message!.webhookAttempts.filter((attempt) => attempt.event === event),
    }),
  )
  const next = message === undefined ? false : nextLookMs(message, events, Date.now())
  if (next !== refetchInterval) look(next)
  return {
    message,
    error: read.error ?? list.error,
    retry: () => void Promise.all([read.refetch(), list.refetch()]),
    story: message && operatorStory(message, events, read.dataUpdatedAt),
    data: message,
    redeliver: useRedeliver('operator', (eventId) => client.redeliverWebhookEventOfPlan({ eventId })),
    mayRedeliver: mayChange,
  }
}

function useRedeliver(side: string, call: (eventId: string) => Promise<unknown>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: call,
    onSettled: () => queries.invalidateQueries({ queryKey: [side] }),
  })
}
