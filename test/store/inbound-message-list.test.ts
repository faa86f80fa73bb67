import { expect, it } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import type { InboundFilters } from '../../src/domain/lists.ts'
import type { Queryable } from '../../src/store/database.ts'
import {
  findInboundForOperator,
  findInboundMessage,
  listInboundForOperator,
  listInboundMessages,
} from '../../src/store/inbound-messages.ts'
import { databaseOfFile } from '../support/database.ts'
import { newId } from '../support/installation.ts'
import { rowsRead } from '../support/rows-read.ts'

const NONE: InboundFilters = { from: null, to: null, keyword: null, fromDate: null, toDate: null }
const DAY_MS = 86_400_000
const FIRST_MS = Date.parse('2026-05-01T23:59:59.990Z')

/** Twenty messages a millisecond apart, over the end of a day; every fourth of plan 2. */
const ids = Array.from({ length: 20 }, (_, n) => newId(FIRST_MS + n, n))
const ofPlan1 = ids.filter((_, n) => n % 4 !== 3).reverse()

const PLANS = ['1'.repeat(24), '2'.repeat(24)]

const { db } = await databaseOfFile()
for (const offset of [0, 1]) {
  const bound = (day: number) =>
    messageId(Math.floor(FIRST_MS / DAY_MS + day) * DAY_MS, new Uint8Array(9), 0).slice(0, 13)
  await db.query(
    `create table inbound_messages_day_${offset} partition of inbound_messages
     for values from ('${bound(offset)}-0000-0000-000000000000') to ('${bound(offset + 1)}-0000-0000-000000000000')`,
  )
}
await db.query(`
  with account as (
    insert into accounts (account_id, name, webhook_secret) values ('${'a'.repeat(24)}', 'a', 'x') returning id)
  insert into service_plans (account_id, service_plan_id, name)
  select id, p, p from account, unnest(array['${PLANS.join("', '")}']) p`)
await db.query(
  `insert into carriers (name, host, port, system_id, password) values ('acme', 'smsc.example.net', 2775, 'a', 'b')`,
)
await db.query(
  `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
   select case when n % 4 = 0 then 2 else 1 end, id, 1, '+1555123000' || n % 2, '7123' || n % 3,
          case when n % 5 = 1 then 'Join' end, 'text'
   from unnest($1::uuid[]) with ordinality as u (id, n)`,
  [ids],
)

async function idsOf(page: Partial<Parameters<typeof listInboundMessages>[1]>): Promise<string[]> {
  const whole = { planId: 1, filters: NONE, after: null, limit: 100, ...page }
  const listed = (await listInboundMessages(db, whole)).map(({ msgId }) => msgId)
  expect((await listInboundForOperator(db, whole)).map(({ msgId }) => msgId)).toEqual(listed)
  return listed
}

it('gives the messages of one plan, newest first', async () => {
  expect(await idsOf({})).toEqual(ofPlan1)
  expect(await idsOf({ planId: 3 })).toEqual([])
})

it('gives no more than the limit, behind the position', async () => {
  expect(await idsOf({ limit: 4 })).toEqual(ofPlan1.slice(0, 4))
  expect(await idsOf({ limit: 4, after: ofPlan1[3]! })).toEqual(ofPlan1.slice(4, 8))
})

it.each([
  ['from', '+15551230001', (n: number) => n % 2 === 1],
  ['to', '71232', (n: number) => n % 3 === 2],
  ['keyword', 'JOIN', (n: number) => n % 5 === 1],
] as const)('filters by %s', async (name, value, test) => {
  const wanted = ofPlan1.filter((id) => test(ids.indexOf(id) + 1))
  expect(await idsOf({ filters: { ...NONE, [name]: value } })).toEqual(wanted)
})

it('includes both ends of a window, and reads only its partitions', async () => {
  const filters = { ...NONE, fromDate: FIRST_MS + 2, toDate: FIRST_MS + 9 }
  expect(await idsOf({ filters })).toEqual(ofPlan1.filter((id) => id >= ids[2]! && id <= ids[9]!))
  const plan = await planOf({ filters })
  expect(plan).toContain('inbound_messages_day_0')
  expect(plan).not.toContain('inbound_messages_day_1')
})

it('reads a page in the order of a key, without sorting what the plan has', async () => {
  expect(await planOf({ limit: 3, after: ids[18]! })).toMatch(/Index Scan Backward using \w+_pkey/)
  const ofOne = await planOf({ filters: { ...NONE, from: '+15551230001' } })
  expect(ofOne).toMatch(/Index Scan Backward using \w+_plan_id_sender_msg_id_idx/)
  expect(ofOne).not.toMatch(/Sort|Filter/)
})

it('finds one by the primary key, in partitions that nobody has analysed too', async () => {
  const plan = await explained((explaining) => findInboundMessage(explaining, 1, ids[0]!))
  expect(plan).toMatch(/using \w+_pkey/)
  expect(plan).not.toContain('_sender_')
})

function planOf(page: Partial<Parameters<typeof listInboundMessages>[1]>): Promise<string> {
  const whole = { planId: 1, filters: NONE, after: null, limit: 10, ...page }
  return explained((explaining) => listInboundMessages(explaining, whole))
}

/** How the statement that `run` makes would be executed. */
async function explained(run: (explaining: Queryable) => Promise<unknown>): Promise<string> {
  let plan = ''
  const explaining = {
    query: async ({ text, values }: { text: string; values: unknown[] }) => {
      const { rows } = await db.query(`explain ${text}`, values)
      plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      return { rows: [] }
    },
  }
  await run(explaining as never)
  return plan
}

it('finds one of a plan, and none of another', async () => {
  const message = {
    planId: 1,
    msgId: ids[0],
    sender: '+15551230001',
    recipient: '71231',
    body: 'text',
    keyword: 'Join',
  }
  expect(await findInboundMessage(db, 1, ids[0]!)).toEqual(message)
  expect(await findInboundMessage(db, 2, ids[0]!)).toBeUndefined()
  expect(await findInboundMessage(db, 1, ids[3]!)).toBeUndefined()
})

it('tells the operator whose it is and which carrier brought it', async () => {
  expect(await findInboundForOperator(db, ids[3]!)).toEqual({
    accountId: 'a'.repeat(24),
    servicePlanId: PLANS[1],
    parts: 1,
    partsExpected: 1,
    carrier: 'acme',
    msgId: ids[3],
    sender: '+15551230000',
    recipient: '71231',
    body: 'text',
    keyword: null,
  })
  expect(await findInboundForOperator(db, newId(FIRST_MS, 0))).toBeUndefined()
  await db.query('delete from carriers')
  expect(await findInboundForOperator(db, ids[0]!)).toMatchObject({ servicePlanId: PLANS[0], carrier: null })
})

it('finds what few have, or none, without looking at the others', async () => {
  const many = Array.from({ length: 3_000 }, (_, n) => newId(FIRST_MS + 1_000 + n))
  await db.query(
    `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
     select 1, id, 1, '+15551239999', '71239', 'Stop', 'text' from unnest($1::uuid[]) as u (id)`,
    [many],
  )
  const read = (filters: Partial<InboundFilters>) =>
    rowsRead(db, 'inbound_messages', (explained) =>
      listInboundMessages(explained, {
        planId: 1,
        filters: { ...NONE, ...filters },
        after: null,
        limit: 100,
      }),
    )
  expect(await read({ from: '+15551230001' })).toBeLessThan(20)
  expect(await read({ to: '71232' })).toBeLessThan(20)
  expect(await read({ keyword: 'JOIN' })).toBeLessThan(20)
  expect(await read({ keyword: 'never' })).toBe(0)
})
