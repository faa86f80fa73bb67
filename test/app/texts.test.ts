import { afterAll, beforeAll, expect, test } from 'vitest'
import { OUTCOME_TABLE } from '../../src/services/sandbox/sandbox.ts'
import { eventually, type Service, startService } from '../support/service.ts'

/** What is left of the texts of a plan that discards them, on a real node. */

let service: Service
let sandbox: Service

beforeAll(async () => {
  service = await startService()
  sandbox = await service.tenant({ plan: { sandbox: true, route: undefined, texts: 'discard' } })
})
afterAll(() => service[Symbol.asyncDispose]())

/** The columns of texts and octets, of every table, in which each of the texts is. */
async function placesOf(...texts: string[]): Promise<Record<string, string[]>> {
  const { rows: columns } = await service.db.query<{ table: string; column: string; type: string }>(`
    select c.oid::regclass::text as table, quote_ident(a.attname) as column, a.atttypid::regtype::text as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.atttypid not in ('int4'::regtype, 'int8'::regtype, 'bool'::regtype)`)
  expect(columns.length).toBeGreaterThan(100)
  const places = Object.fromEntries(texts.map((text): [string, string[]] => [text, []]))
  for (const { table, column, type } of columns) {
    const holds =
      type === 'bytea'
        ? `position(convert_to(text, 'utf8') in ${column}) > 0`
        : `position(text in ${column}::text) > 0`
    const { rows } = await service.db.query<{ text: string }>(
      `select text from unnest($1::text[]) text where exists (select from ${table} where ${holds})`,
      [texts],
    )
    for (const { text } of rows) places[text]!.push(`${table}.${column}`)
  }
  return places
}

const textOf = (lastDigits: string | null) => `Secret-${lastDigits}`

test('whatever became of a message, its text is nowhere; one that has not ended keeps it', async () => {
  // Half a minute is too long to wait for a receipt.
  const outcomes = OUTCOME_TABLE.filter(({ lastDigits }) => lastDigits !== '1010')
  const messages = await Promise.all(
    outcomes.map(async ({ lastDigits, status }) => {
      const body = textOf(lastDigits)
      const accepted = await sandbox.send({ to: `+1555123${lastDigits ?? '0000'}`, body })
      expect(accepted.body.body).toBe(body)
      return { msgId: accepted.body.msgId as string, lastDigits, status }
    }),
  )
  for (const { msgId, status, lastDigits } of messages) {
    const record = await eventually(async () => {
      // A submit that was throttled is to be repeated after seconds: from its record, which has the text.
      await sandbox.makeDue()
      const { body } = await sandbox.get(msgId)
      return body.status === status && body
    })
    const hasEnded = status !== 'SENT'
    expect([lastDigits, record.body]).toEqual([lastDigits, hasEnded ? null : textOf(lastDigits)])
    await sandbox.recorded(msgId)
    expect((await sandbox.get(msgId)).body).toEqual(record)
  }
  await eventually(async () => (await service.db.query('select from journal')).rowCount === 0)
  expect(await placesOf(...messages.map(({ lastDigits }) => textOf(lastDigits)))).toEqual(
    Object.fromEntries(
      messages.map(({ lastDigits, status }) => [
        textOf(lastDigits),
        status === 'SENT' ? ['messages.body'] : [],
      ]),
    ),
  )
})

test('the webhook of the end has no text, and the receipt is kept without it', async () => {
  const msgId = await sandbox.sent({ body: 'Secret-webhook' })
  await sandbox.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  const told = sandbox.receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter((event) => event.msgId === msgId)
    .map(({ status, body }) => [status, body])
  expect(told).toEqual([
    ['SENT', 'Secret-webhook'],
    ['DELIVERED', null],
  ])
  const { receipts } = (await sandbox.recorded(msgId)) as { receipts: { text: string }[] }
  expect(receipts.map(({ text }) => text)).toEqual([expect.stringMatching(/^id:.* text:$/)])
})

test('a plan that keeps texts keeps them, in the records and in the receipts', async () => {
  const msgId = await service.sent({ body: 'Kept text' })
  expect((await service.until(msgId, 'DELIVERED')).body).toBe('Kept text')
  await service.recorded(msgId)
  expect((await service.get(msgId)).body.body).toBe('Kept text')
  expect((await placesOf('Kept text'))['Kept text']).toContain('messages.body')
})
