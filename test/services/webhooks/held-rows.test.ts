import { expect, test } from 'vitest'
import type { EventHolder } from '../../../src/domain/events.ts'
import { type Queryable, withTransaction } from '../../../src/store/database.ts'
import { insertInboundMessages } from '../../../src/store/inbound-messages.ts'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { lostAnswer } from '../../support/gated-database.ts'
import { newId } from '../../support/installation.ts'
import { answerStatus } from '../../support/webhook-receiver.ts'

const walk = await clockedDeliveries()
const { announced, clock, deliveries, enqueued, look, lose, run, runOut } = walk

const eventsOf = (from = 0) => walk.received.slice(from).map(({ headers }) => String(headers['webhook-id']))

test('an event that was taken without an answer is delivered all the same', async () => {
  const msgId = await announced()
  lose('take_due_events')
  await expect(look()).rejects.toThrow(lostAnswer().message)
  expect(await deliveries()).toMatchObject([{ msgId, held: true }])
  await runOut()
  expect(eventsOf()).toEqual([`${msgId}-1`])
})

test.each(['take_probes', 'take_parked_events'])('so is one that %s took', async (name) => {
  walk.answerWith(answerStatus(502))
  for (let count = 0; count < 25; count += 1) await announced()
  await run()
  expect(walk.destinations.count('open')).toBe(1)
  walk.acknowledge()
  const before = walk.received.length
  lose(name)
  let lost = 0
  for (let looks = 0; (await deliveries()).length > 0; looks += 1) {
    expect(looks).toBeLessThan(20)
    await clock.set(clock.now() + 60_000)
    await look().catch(() => (lost += 1))
    await walk.destinations.runOnce()
  }
  expect(lost).toBe(1)
  expect(eventsOf(before)).toHaveLength(25)
  expect(new Set(eventsOf(before)).size).toBe(25)
})

test('so is one that was announced by a statement without an answer', async () => {
  const msgId = await enqueued({ lost: true })
  expect(await deliveries()).toMatchObject([{ msgId, held: true }])
  await runOut()
  expect(eventsOf()).toEqual([`${msgId}-1`])
})

/** A message to the plan, whose event this node holds where `holder` says so. */
function inbound(db: Queryable, holder: EventHolder): Promise<string[]> {
  const message = {
    planId: walk.plan,
    msgId: newId(clock.now()),
    carrierId: 1,
    parts: 1,
    partsExpected: 1,
    sender: '+491701234567',
    recipient: '+49301234567',
    body: 'hello',
    keyword: null,
    announced: true,
    occurredAtMs: clock.now(),
  }
  return insertInboundMessages(db, [message], holder)
}

test('so is one of a statement that is committed long after its connection was lost', async () => {
  const { write } = walk.deliverer.due
  await withTransaction(walk.db, async (transaction) => {
    const lost = write(async (holder) => {
      expect(await inbound(transaction, holder)).toHaveLength(1)
      throw lostAnswer()
    })
    await expect(lost).rejects.toThrow(lostAnswer().message)
    for (let looks = 0; looks < 5; looks += 1) await look()
  })
  expect(await deliveries()).toMatchObject([{ sequence: 0, held: true }])
  await runOut()
  expect(walk.received).toHaveLength(1)
})

test('what another statement has made this node the holder of is not requeued before its answer is there', async () => {
  const { write } = walk.deliverer.due
  const answer = Promise.withResolvers<void>()
  const held = Promise.withResolvers<string[]>()
  const other = write(async (holder) => {
    held.resolve(await inbound(walk.db, holder))
    await answer.promise
  })
  const [msgId] = await held.promise
  const lost = write(() => Promise.reject(lostAnswer()))
  await expect(lost).rejects.toThrow(lostAnswer().message)
  for (let looks = 0; looks < 5; looks += 1) await look()
  expect(await deliveries()).toMatchObject([{ msgId, held: true }])
  // While it is not known what this node holds, it holds nothing more.
  expect(await write((holder) => inbound(walk.db, holder))).toEqual([])
  answer.resolve()
  await other
  await runOut()
  expect(walk.received).toHaveLength(2)
})
