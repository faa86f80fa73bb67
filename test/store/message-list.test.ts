import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { listMessages } from '../../src/store/message-list.ts'
import { databaseOfFile } from '../support/database.ts'
import { NO_FILTERS } from '../support/list-walks.ts'

const DAY_MS = 86_400_000
const FIRST_MS = Date.parse('2026-05-01T23:59:59.990Z')

/** Twenty messages a millisecond apart, over the end of a day. */
const ids = Array.from({ length: 20 }, (_, n) => messageId(FIRST_MS + n, randomBytes(9), n))

const { db } = await databaseOfFile({ state: 'anyDay' })
await db.query(
  `insert into messages (plan_id, msg_id, sender, recipient, body, segments, updated_at)
   select case when n % 4 = 0 then 2 else 1 end, id, '12345', '+15551230001', 'text', 1, now()
   from unnest($1::uuid[]) with ordinality as u (id, n)`,
  [ids],
)

async function idsOf(page: Partial<Parameters<typeof listMessages>[1]>): Promise<string[]> {
  const whole = { planId: 1, filters: NO_FILTERS, after: null, limit: 100, ...page }
  return (await listMessages(db, whole)).map(({ msgId }) => msgId)
}

const ofPlan1 = ids.filter((_, index) => (index + 1) % 4 !== 0).reverse()

it('gives the messages of one plan, newest first', async () => {
  expect(await idsOf({})).toEqual(ofPlan1)
  expect(await idsOf({ planId: 3 })).toEqual([])
})

it('gives no more than the limit, below the position', async () => {
  expect(await idsOf({ limit: 4 })).toEqual(ofPlan1.slice(0, 4))
  expect(await idsOf({ limit: 4, after: ofPlan1[3]! })).toEqual(ofPlan1.slice(4, 8))
})

it('includes both ends of a window', async () => {
  const filters = { ...NO_FILTERS, fromDate: FIRST_MS + 5, toDate: FIRST_MS + 9 }
  expect(await idsOf({ filters })).toEqual(ofPlan1.filter((id) => id >= ids[5]! && id <= ids[9]!))
})

it('reads only the partitions of the window', async () => {
  await db.query('alter table messages detach partition messages_any_day')
  const day = (ms: number) => `${new Date(ms).toISOString().slice(0, 10)}`
  const bound = (ms: number) => messageId(Date.parse(day(ms)), new Uint8Array(9), 0).slice(0, 13)
  for (const offset of [0, 1]) {
    const from = FIRST_MS + offset * DAY_MS
    await db.query(
      `create table messages_day_${offset} partition of messages
       for values from ('${bound(from)}-0000-0000-000000000000') to ('${bound(from + DAY_MS)}-0000-0000-000000000000')`,
    )
  }
  await db.query('insert into messages select * from messages_any_day')
  const plans: string[] = []
  const explaining = {
    query: async (statement: { text: string; values?: unknown[] }) => {
      const { rows } = await db.query(`explain ${statement.text}`, statement.values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  }
  const page = { planId: 1, filters: NO_FILTERS, after: null, limit: 10 }
  const filters = { ...NO_FILTERS, fromDate: FIRST_MS, toDate: FIRST_MS + 5 }
  await listMessages(explaining as never, { ...page, filters })
  expect(plans).toEqual([expect.stringContaining('messages_day_0')])
  expect(plans[0]).not.toContain('messages_day_1')
  // Eight days, then the others.
  await listMessages(explaining as never, page, FIRST_MS + 8 * DAY_MS)
  expect(plans.slice(1)).toEqual([
    expect.stringContaining('messages_day_1'),
    expect.stringContaining('messages_day_0'),
  ])
  expect(plans[1]).not.toContain('messages_day_0')
  expect(plans[2]).not.toContain('messages_day_1')
  expect(await idsOf({})).toEqual(ofPlan1)
})
