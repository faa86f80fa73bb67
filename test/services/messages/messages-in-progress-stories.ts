import { expect } from 'vitest'
import type { WriteEvents } from '../../../src/domain/events.ts'
import type { ChangedMessage } from '../../../src/domain/journal/messages-in-progress.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import { IdRules } from '../../../src/services/messages/id-rules.ts'
import { MessagesInProgress } from '../../../src/services/messages/messages-in-progress.ts'
import { Recorder } from '../../../src/services/messages/recorder.ts'
import { Maintenance } from '../../../src/services/upkeep/maintenance.ts'
import { OutcomeWriter } from '../../../src/services/webhooks/outcome-writer.ts'
import { registerNode, removeNode } from '../../../src/store/nodes.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase, lostAnswer, refusedByServer } from '../../support/gated-database.ts'
import { type installedDatabase, newId } from '../../support/installation.ts'
import { quietLog, strictLog } from '../../support/log.ts'
import { acceptedFact } from '../../support/messages-in-memory.ts'
import {
  HOLDER,
  NOBODY,
  NODE,
  receipt,
  sent,
  startingOver,
  submission,
} from '../../support/stored-messages.ts'

/** Numbers below 1 in an order that the seed tells (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A database with a plan, that of one test file. */
type Installed = Pick<Awaited<ReturnType<typeof installedDatabase>>, 'db' | 'announcedPlan'>

/** A node whose database now and then refuses what it is asked, or keeps its answer. */
async function aNode({ db, announcedPlan: plan }: Installed, random: () => number) {
  const directory = aDirectory({ plans: [aPlan({ id: plan })] })
  const told: { msgId: string; sequence: number }[] = []
  let fails = false
  const around = async <T>(name: string | undefined, run: () => Promise<T>): Promise<T> => {
    const chance = fails ? random() : 1
    if (chance < 0.02) return await refusedByServer(db)
    const answer = await run()
    // A connection that somebody waits for is his, or there is none.
    if (chance < 0.04 && name !== 'connect') throw lostAnswer()
    return answer
  }
  const gated = gatedDatabase(db, around)
  const shared = {
    db: gated,
    clock: Date.now,
    directory: () => directory,
    log: quietLog,
  }
  const eventHolder = () => (random() < 0.9 ? HOLDER : NOBODY)
  const writeEvents: WriteEvents = (write) => write(eventHolder())
  const onChanged = (changes: readonly ChangedMessage[]) => {
    for (const { msgId, sequence, held } of changes) {
      told.push({ msgId, sequence })
      if (held) void deliver(msgId, sequence)
    }
  }
  const inProgress = new MessagesInProgress({
    ...shared,
    ageMs: 50,
  })
  const idRules = new IdRules({
    isAlone: () => true,
    db,
    directory: () => directory,
    clock: Date.now,
    log: quietLog,
  })
  const recorder = new Recorder({ ...shared, inProgress, idRules, writeEvents, onChanged })
  inProgress.heardBy({
    eventHolder,
    onChanged,
    onProjected: (submissions) => recorder.lookUpParked(submissions),
    onOutcomeLost: (outcome) => recorder.addOutcome(outcome),
  })
  const outcomes = new OutcomeWriter({ ...shared, inProgress })
  const deliver = async (msgId: string, sequence: number) => {
    if (random() < 0.1) await turn({ db }, random)
    await outcomes.record({
      ...{ planId: plan, msgId: msgId, sequence, holder: NODE, failedAttempts: 1, attempt: 1, latencyMs: 5 },
      ...{ responseStatus: 200, error: null, responseHead: null, destination: 'https://example.com' },
      ...{ attemptedAt: new Date().toISOString(), waited: false, decision: 'delivered', delayMs: 0 },
    })
  }
  await inProgress.register(NODE)
  fails = true
  return { db, plan, directory, inProgress, recorder, told, heal: () => (fails = false) }
}

type Node = Awaited<ReturnType<typeof aNode>>

/** A moment in which anything else may happen: some statements long. */
async function turn({ db }: Pick<Node, 'db'>, random: () => number): Promise<void> {
  for (let left = random() * 12; left > 1; left -= 1) await db.query('select')
}

/** As a carrier that keeps a receipt until it is acknowledged. */
async function receive(node: Node, id: string, random: () => number): Promise<void> {
  const { recorder } = node
  for (;;) {
    const row = receipt(id, 'DELIVERED', { mccmnc: null })
    if (await new Promise<boolean>((done) => recorder.addReceipt({ receipt: row, done }))) return
    await eventually(() => !recorder.failing)
    await turn(node, random)
  }
}

/** As a customer who sends again what was answered 500. */
async function accept(node: Node, segments: number, random: () => number): Promise<string> {
  const { inProgress, plan } = node
  for (;;) {
    const msgId = newId(Date.now())
    const accepted = acceptedFact(plan, msgId, { begun: true, segments })
    if ((await inProgress.accept({ msgId, owner: NODE, accepted })) === 'committed') return msgId
    await eventually(() => inProgress.takes(plan))
    await turn(node, random)
  }
}

async function story(node: Node, random: () => number): Promise<string> {
  const { plan, inProgress, recorder } = node
  const segments = random() < 0.5 ? 1 : 2
  const segmentation = random() < 0.2 ? 'udh gsm7 2' : null
  const msgId = await accept(node, segments, random)
  const receipts: Promise<void>[] = []
  const interfere = async () => {
    if (random() < 0.5) await turn(node, random)
    if (random() < 0.15) inProgress.project([msgId]).catch(() => undefined)
  }
  for (let segment = 0; segment < segments; segment += 1) {
    await interfere()
    const id = `${msgId}-${segment}`
    if (random() < 0.1) receipts.push(receive(node, id, random))
    else receipts.push(interfere().then(() => receive(node, id, random)))
    if (segmentation !== null) recorder.addOutcome(startingOver(plan, msgId, segmentation))
    recorder.addOutcome(submission(plan, msgId, id, segment, segmentation))
  }
  await interfere()
  recorder.addOutcome(sent(plan, msgId, { segments, segmentation }))
  await Promise.all(receipts)
  return msgId
}

/** What was left undone is done: facts and outcomes that wait, and receipts that are still parked. */
async function settled(node: Node, msgIds: readonly string[]): Promise<void> {
  const { db, directory, inProgress, recorder } = node
  node.heal()
  await eventually(() => recorder.backlog === 0 && inProgress.pending === 0)
  await eventually(() => msgIds.every((msgId) => inProgress.get(msgId) === undefined))
  await new Maintenance({
    db,
    directory: () => directory,
    newMessageId: () => newId(Date.now()),
    retentionDays: 90,
    auditRetentionDays: 400,
    clock: Date.now,
    applyReceipts: (receipts) => recorder.applyParked(receipts),
    translateReceipts: async () => ({ receipts: [], more: false }),
    log: strictLog,
  }).runOnce()
}

/** The events of each message, as its record has them. */
async function recorded({ db }: Node, msgIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ events: string }>(
    `select string_agg(e.status::text || ' ' || e.sequence, ', ' order by e.sequence) as events
     from messages m left join events e using (plan_id, msg_id)
     where msg_id = any ($1) and m.status = 'DELIVERED' group by msg_id`,
    [msgIds],
  )
  return rows.map(({ events }) => events)
}

/** Stories that begin one after the other, so that they overlap; gives their messages. */
async function tellStories(node: Node, random: () => number, count: number): Promise<string[]> {
  const stories: Promise<string>[] = []
  while (stories.length < count) {
    stories.push(story(node, random))
    await turn(node, random)
  }
  return await Promise.all(stories)
}

/** A receipt of the only segment may be quicker than the settlement. */
const WHOLE_STORIES = new Set(['SENT 1, DELIVERED 2', 'DELIVERED 1'])

/** Whatever comes between, so many messages are told of each change once, in order. */
export async function tellEachOnce(installed: Installed, seed: number, count: number): Promise<void> {
  const random = randomOf(seed)
  const node = await aNode(installed, random)
  const msgIds = await tellStories(node, random, count)
  await settled(node, msgIds)
  const events = await recorded(node, msgIds)
  expect(events.filter((told) => !WHOLE_STORIES.has(told))).toEqual([])
  expect(events).toHaveLength(msgIds.length)
  const told = Map.groupBy(node.told, ({ msgId }) => msgId)
  // A change whose answer was lost is told by nobody: its event is found in the table.
  const sequences = [...told.values()].map((changes) => changes.map(({ sequence }) => sequence).join())
  expect(sequences.filter((seqs) => !['1,2', '1', '2'].includes(seqs))).toEqual([])
  await node.inProgress.stop(5_000)
}

/** So it is where the lane is lost meanwhile, and recovered by another node. */
export async function tellDespiteLoss(installed: Installed, seed: number, count: number): Promise<void> {
  const random = randomOf(seed)
  const node = await aNode(installed, random)
  const { db } = node
  const stories = tellStories(node, random, count)
  await eventually(() => node.told.length > 10)
  const living = await registerNode(db, `living ${seed}`)
  const recovery = {
    nodeId: living,
    nowMs: Date.now(),
    ambiguityWaitMs: 60_000,
    delivers: () => true,
    log: quietLog,
  }
  await recoverLanes(db, recovery)
  await eventually(() =>
    node.inProgress.register(NODE + seed).then(
      () => true,
      () => false,
    ),
  )
  const msgIds = await stories
  await settled(node, msgIds)
  const events = await recorded(node, msgIds)
  expect(events.filter((told) => !WHOLE_STORIES.has(told))).toEqual([])
  expect(events).toHaveLength(msgIds.length)
  await node.inProgress.stop(5_000)
  await removeNode(db, living)
}
