import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LaterFact } from '../../src/domain/journal/message-facts.ts'
import { messageOf } from '../../src/domain/journal/messages-in-progress.ts'
import type { MessageFilters } from '../../src/domain/lists.ts'
import { newestWanted, type SearchFilters, wantedOfPage } from '../../src/domain/messages/message-search.ts'
import { MESSAGE_STATUSES, type Message } from '../../src/domain/messages/messages.ts'
import { searchMessages, wantedOfSearch } from '../../src/operations/search-messages.ts'
import { openLane } from '../../src/store/journal.ts'
import { listMessages } from '../../src/store/message-list.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { NO_FILTERS } from '../support/list-walks.ts'
import {
  inMemory,
  projected,
  receiptFact,
  settledFact,
  submittedFact,
} from '../support/messages-in-memory.ts'

/** The lists choose among messages in progress as their statements choose among the same messages' records. */

const { db, announcedPlan, silentPlan } = await installedDatabase()
const { rows: carriers } = await db.query<{ id: number }>(
  `insert into carriers (name, host, port, system_id, password)
   select name, 'localhost', 2775, 'aldis', 'secret' from unnest('{acme,other}'::text[]) as name returning id`,
)
const CARRIERS = carriers.map(({ id }) => id)
const PLANS = [announcedPlan, silentPlan]
const SENDERS = ['Aldis', '12345', 'aldis']
const RECIPIENTS = ['+15551230000', '+15551230001']
const COUNTRIES = ['US', 'DE']
const NETWORKS = ['310260', '26201']
const IDS = ['a1', '00B2', '45810']
const START_MS = Date.now() - 1_000

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values)
const orNull = <T>(values: readonly T[]) => fc.option(oneOf(values), { nil: null })

const story = fc.record({
  atMs: fc.integer({ min: START_MS, max: START_MS + 40 }),
  accepted: fc.record({
    planId: oneOf(PLANS),
    sender: oneOf(SENDERS),
    recipient: oneOf(RECIPIENTS),
    country: orNull(COUNTRIES),
    segments: oneOf([1, 2]),
  }),
  settled: fc.option(
    fc.record({
      status: oneOf(['SENT', 'FAILED', 'UNKNOWN'] as const),
      errorCode: oneOf(['000', '103']),
      carrierCode: orNull(['0x45']),
      carrierId: orNull(CARRIERS),
      mccmnc: orNull(NETWORKS),
      charge: fc.option(oneOf([{ price: '0.02', ptf: '0.004', currency: 'EUR' }])),
    }),
  ),
  submitted: fc.array(fc.record({ carrierId: oneOf(CARRIERS), carrierMessageId: oneOf(IDS) }), {
    maxLength: 2,
  }),
  outcome: orNull(['DELIVERED', 'FAILED', 'UNKNOWN'] as const),
})

const MESSAGES = fc.sample(story, { numRuns: 300, seed: 7 }).map((told) => {
  const facts = (msgId: string, atMs: number): LaterFact[] => [
    ...told.submitted.map((segment, n) => ({ ...submittedFact('', n), ...segment }) as LaterFact),
    ...(told.settled === null ? [] : [settledFact(atMs, told.settled)]),
    ...(told.outcome === null
      ? []
      : [receiptFact(msgId, atMs, { outcome: told.outcome, errorCode: '300', segmentBits: 3n })]),
  ]
  return inMemory(told.accepted.planId, facts, told.accepted, newId(told.atMs))
})
const records = MESSAGES.map((message) => projected(message))
expect(await projectMessages(db, await openLane(db, 1), records, 0)).toBe('written')

/** A filter: most lists have few of them. */
const maybe = <T>(values: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: values })
const after = maybe(oneOf(MESSAGES.map(({ msgId }) => msgId)))
const limit = fc.integer({ min: 1, max: 400 })
const aDate = maybe(fc.integer({ min: START_MS - 2, max: START_MS + 42 }))
const filters: fc.Arbitrary<MessageFilters> = fc.record({
  from: maybe(oneOf(SENDERS)),
  to: maybe(oneOf(RECIPIENTS)),
  status: maybe(oneOf(MESSAGE_STATUSES)),
  country: maybe(oneOf(COUNTRIES)),
  mccmnc: maybe(oneOf(NETWORKS)),
  fromDate: aDate,
  toDate: aDate,
})
const search: fc.Arbitrary<SearchFilters> = fc
  .record({
    base: filters,
    errorCode: maybe(oneOf(['000', '103', '300'])),
    carrierMessageId: maybe(oneOf([...IDS, 'A1', 'b2', 'B2F2'])),
  })
  .map(({ base, ...rest }) => ({ ...base, ...rest }))

const idsOf = (rows: readonly { msgId: string }[]) => rows.map(({ msgId }) => msgId)
const RUNS = { numRuns: 150 }

test('the list of a plan', async () => {
  let shown = 0
  await fc.assert(
    fc.asyncProperty(oneOf(PLANS), filters, after, limit, async (planId, filters, after, limit) => {
      const page = { planId, filters, after, limit }
      const recorded = await listMessages(db, page)
      expect(idsOf(newestWanted([MESSAGES], wantedOfPage(page), limit))).toEqual(idsOf(recorded))
      shown += recorded.length
    }),
    RUNS,
  )
  expect(shown).toBeGreaterThan(RUNS.numRuns)
})

test("the operator's list", async () => {
  let shown = 0
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        planId: maybe(oneOf(PLANS)),
        carrierId: maybe(oneOf(CARRIERS)),
        filters: search,
        after,
        limit,
      }),
      async (asked) => {
        const { rows, searchedTo } = await searchMessages(db, asked, () => 0)
        expect(searchedTo).toBeNull()
        expect(
          idsOf(
            newestWanted([MESSAGES.slice(100), MESSAGES.slice(0, 100)], wantedOfSearch(asked), asked.limit),
          ),
        ).toEqual(idsOf(rows))
        shown += rows.length
      },
    ),
    RUNS,
  )
  expect(shown).toBeGreaterThan(RUNS.numRuns)
})

test('a message is answered alike from both', async () => {
  const page = { planId: announcedPlan, filters: NO_FILTERS, after: null, limit: 300 }
  const recorded = await listMessages(db, page)
  const newest = newestWanted([MESSAGES], wantedOfPage(page), 300)
  const inProgress = newest.map((message) => ({ ...messageOf(message), lane: null }))
  expect(inProgress.map(withNumbers)).toEqual(recorded.map(withNumbers))
  expect(recorded.length).toBeGreaterThan(100)
})

/** Amounts are answered as numbers; the database gives them with all their places. */
function withNumbers(message: Message) {
  const numberOf = (amount: string | null) => (amount === null ? null : Number(amount))
  return { ...message, price: numberOf(message.price), ptf: numberOf(message.ptf) }
}
