import { counted, duration, headerLines } from '../../../kit/formats.ts'
import type { StoryAttempt, StoryEntry, StoryEvent } from './entries.ts'

/** What the customer's receiver was told, and what it answered. */
export function webhookEntries(events: readonly StoryEvent[], url: string | null): StoryEntry[] {
  return events.flatMap((event) => {
    const target = url ?? event.destination
    const attempts = event.attemptRecords.map((attempt) => attemptEntry(event, attempt, target))
    const outcome = outcomeEntry(event, target)
    if (outcome !== null) return [...attempts, outcome]
    // The last attempt is the outcome: it was answered 2xx.
    const last = attempts.at(-1)
    return last === undefined ? [] : [...attempts.slice(0, -1), { ...last, event }]
  })
}

function attemptEntry(event: StoryEvent, record: StoryAttempt, target: string | null): StoryEntry {
  const { attempt, attemptedAt, latencyMs, responseStatus, error, requestHeaders, responseHead } = record
  const atMs = Date.parse(attemptedAt)
  const raw = [
    ['Headers of the request', headerLines(requestHeaders) ?? ''],
    ['Head of the answer', responseHead ?? ''],
  ] as const
  const isTaken = responseStatus !== null && responseStatus < 300 && error === null
  return {
    id: `${event.eventId}/${attempt}`,
    lane: 'webhook',
    atMs,
    endMs: atMs + latencyMs,
    tone: isTaken ? 'good' : 'bad',
    title: `${event.status} → ${responseStatus === null ? 'no answer' : `HTTP ${responseStatus}`}`,
    detail: [hostOf(target), `after ${duration(latencyMs)}`, attempt > 1 ? `attempt ${attempt}` : null]
      .filter((part) => part !== null)
      .join(' · '),
    facts: [
      ['Event', event.eventId],
      ['URL', target],
      ['Attempt', attempt],
      ['Answer', responseStatus === null ? null : `HTTP ${responseStatus}`],
      ['Latency', duration(latencyMs)],
      ['Error', error],
    ],
    raw: raw.filter(([, text]) => text !== ''),
  }
}

/** What becomes of the event next, or why nothing does; null when its last attempt says it. */
function outcomeEntry(event: StoryEvent, target: string | null): StoryEntry | null {
  const { eventId, status, state, occurredAt, deliveredAt, nextAttemptAt, attemptRecords } = event
  const last = attemptRecords.at(-1)
  const lastMs = last === undefined ? Date.parse(occurredAt) : Date.parse(last.attemptedAt) + last.latencyMs
  const common = { id: eventId, lane: 'webhook', event } as const
  const facts = [
    ['Event', eventId],
    ['URL', target],
    ['Attempts', event.attempts],
  ] as const
  switch (state) {
    case 'delivered':
      if (last !== undefined && last.error === null) return null
      return {
        ...common,
        atMs: deliveredAt === null ? lastMs : Date.parse(deliveredAt),
        tone: 'good',
        title: `${status} → taken`,
        detail: hostOf(target),
        facts,
      }
    case 'kept':
      return {
        ...common,
        atMs: lastMs,
        tone: 'neutral',
        title: `${status} kept`,
        detail: 'There was no URL to tell',
        facts,
      }
    case 'failed':
      return {
        ...common,
        atMs: lastMs,
        tone: 'bad',
        title: `${status} given up`,
        detail: `after ${counted(event.attempts, 'attempt')}`,
        facts,
      }
    case 'pending':
      return {
        ...common,
        atMs: nextAttemptAt === null ? lastMs : Math.max(lastMs, Date.parse(nextAttemptAt)),
        tone: 'neutral',
        title: event.attempts === 0 ? `${status} waits` : `${status} waits for attempt ${event.attempts + 1}`,
        detail:
          nextAttemptAt === null
            ? 'for the event before it, or its destination'
            : [hostOf(target), 'at the latest'].filter((part) => part !== null).join(' · '),
        facts: [...facts, ['Next attempt by', nextAttemptAt]],
        isPlanned: true,
      }
  }
}

function hostOf(target: string | null): string | null {
  return target === null ? null : (URL.parse(target)?.host ?? target)
}
