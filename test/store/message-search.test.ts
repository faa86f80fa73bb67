import { expect, test } from 'vitest'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import { type SearchPart, searchMessages, searchSubmitted } from '../../src/store/message-search.ts'
import { CARRIER_ID, installedDatabase } from '../support/installation.ts'
import { rowsRead } from '../support/rows-read.ts'
import { insertMessages, newMessage, storeMessage } from '../support/stored-messages.ts'

const { db, announcedPlan, silentPlan } = await installedDatabase()
const NO_FILTERS = {
  from: null,
  to: null,
  status: null,
  country: null,
  mccmnc: null,
  errorCode: null,
}
const part = (changes: Partial<SearchPart> = {}): SearchPart => ({
  planId: null,
  carrierId: null,
  filters: NO_FILTERS,
  lowest: lowestIdAt(Date.now() - 3_600_000),
  below: lowestIdAt(Date.now() + 3_600_000),
  limit: 11,
  ...changes,
})

test('a search reads by key: what it shows, what it looks for, and little else', async () => {
  const rows = [announcedPlan, silentPlan].flatMap((plan) =>
    Array.from({ length: 2_000 }, (_, n) => newMessage(plan, { recipient: `+1555${1_000_000 + n}` })),
  )
  await insertMessages(db, rows)
  const wanted = await storeMessage(db, silentPlan, { recipient: '+46701234567' })
  await db.query(
    `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values ($1, 'a1', $2, $3, 0)`,
    [CARRIER_ID, wanted, silentPlan],
  )
  await db.query(
    `insert into carriers (name, host, port, system_id, password) values ('acme', 'localhost', 2775, 'aldis', 'secret')`,
  )
  await db.query('analyze messages')
  const toWanted = { ...NO_FILTERS, to: '+46701234567' }
  expect((await searchMessages(db, part({ filters: toWanted }))).map(({ msgId }) => msgId)).toEqual([wanted])
  expect((await searchSubmitted(db, ['a1'], part())).map(({ msgId }) => msgId)).toEqual([wanted])
  const read = (changes: Partial<SearchPart>) =>
    rowsRead(db, 'messages', (explained) => searchMessages(explained, part(changes)))
  expect(await read({})).toBeLessThan(30)
  expect(await read({ filters: toWanted })).toBeLessThan(10)
  expect(await read({ planId: announcedPlan })).toBeLessThan(20)
  expect(
    await rowsRead(db, 'messages', (explained) => searchSubmitted(explained, ['a1'], part())),
  ).toBeLessThan(10)
})
