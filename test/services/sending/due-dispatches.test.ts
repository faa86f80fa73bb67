import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Route } from '../../../src/domain/configuration/configuration.ts'
import type { Directory } from '../../../src/domain/configuration/directory.ts'
import { loadedMessage } from '../../../src/domain/journal/messages-in-progress.ts'
import { MAX_BODY_CHARACTERS } from '../../../src/domain/messages/messages.ts'
import { DueDispatches, type DueDispatchesOptions } from '../../../src/services/sending/due-dispatches.ts'
import { HeldMessages } from '../../../src/services/sending/held-messages.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { aDirectory, aPlan, aRoute, aRule } from '../../support/directory.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { nothingInProgress } from '../../support/in-progress.ts'
import { installedDatabase } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { insertMessages, type NewMessage, newMessage } from '../../support/stored-messages.ts'

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket)
const [open, closed] = [aRoute({ id: 1 }), aRoute({ id: 2 })]

const { db, announcedPlan: plan, silentPlan } = await installedDatabase()
let held: HeldMessages
let taken: string[]

beforeEach(async () => {
  await db.query('delete from dispatches')
  held = new HeldMessages()
  taken = []
})

afterEach(() => void vi.useRealTimers())

/** The plan's own route is open; a rule leads others over the closed one. */
function directoryOf(prefixes: readonly string[], active = true): Directory {
  const rules = prefixes.map((prefix, id) => aRule({ id, prefix, route: closed }))
  const plans = [aPlan({ id: plan, active, route: open })]
  return aDirectory({ plans, routes: [open, closed], routingRules: rules })
}

/** Takes without a journal. */
const loading = (pool: typeof db): DueDispatchesOptions['inProgress'] => ({
  hasRoom: true,
  away: nothingInProgress(pool).away,
  load: async (lane, load) =>
    (await withTransaction(pool, (tx) => load(tx, lane, () => false))).map((one) =>
      loadedMessage(one.msgId, one),
    ),
})

function due(directory: () => Directory, changes: Partial<DueDispatchesOptions> = {}): DueDispatches {
  return new DueDispatches({
    db,
    inProgress: loading(db),
    directory,
    lease: { nodeId: 1, buckets: ALL, alive: true, isAlone: true },
    recorder: { isStalled: false, backlog: 0 },
    held,
    webhookRoom: () => 10_000,
    isRouteOpen: (route: Route) => route.id === open.id,
    carriers: () => ({ here: [], elsewhere: [] }),
    enqueue: ({ msgId, accepted }) => {
      held.add({ ...accepted, msgId }, accepted.routeId ?? 0)
      taken.push(msgId)
    },
    log: strictLog,
    ...changes,
  })
}

async function store(count: number, route_id: number, message: Partial<NewMessage> = {}): Promise<void> {
  const created_ms = Date.now() - 1_000
  const { plan_id = plan } = message
  const rows = Array.from({ length: count }, () => newMessage(plan_id, { route_id, created_ms, ...message }))
  await insertMessages(db, rows)
}

test('takes what waits for an open route; tells how much', async () => {
  await store(120, 1)
  await store(5, 2)
  const look = due(() => directoryOf(['+44']))
  expect([await look.runOnce(), await look.runOnce()]).toEqual([120, 0])
  expect(taken).toHaveLength(120)
})

test('the longest texts of two plans leave room for others', async () => {
  const long = { body: '\u4e00'.repeat(MAX_BODY_CHARACTERS), segments: 24 }
  const plans = [plan, silentPlan].map((id) => aPlan({ id, route: open }))
  const directory = aDirectory({
    plans,
    routes: [open, closed],
    routingRules: [aRule({ prefix: '+44', route: closed })],
  })
  const look = due(() => directory, { isRouteOpen: () => true })
  for (const plan_id of [plan, silentPlan]) {
    await store(1_000, 1, { ...long, plan_id })
    while ((await look.runOnce()) > 0);
  }
  expect(held.room.free).toBeGreaterThan(0)
  await store(150, 2)
  expect(await look.runOnce()).toBe(150)
})

test('after rules have changed, what waits for closed routes too, for a while', async () => {
  await store(5, 2)
  let rules = ['+44', '+49']
  const look = due(() => directoryOf(rules), { recheckMs: 0 })
  look.adopt()
  await look.runOnce()
  expect(taken).toEqual([])
  const trusting = due(() => directoryOf(rules), { recheckMs: 60_000 })
  await trusting.runOnce()
  expect(taken).toEqual([])
  rules = ['+49']
  trusting.adopt()
  await trusting.runOnce()
  expect(taken).toHaveLength(5)
})

test.each([
  ['the route of a plan', { plans: [aPlan({ id: plan, route: open })] }],
  ['a number range', { numberRanges: new Map([['49151', '26201']]) }],
])('after %s has changed, what waits for the former route is taken, too', async (_, change) => {
  vi.useFakeTimers({ toFake: ['performance'] })
  await store(5, closed.id)
  const contents = {
    plans: [aPlan({ id: plan, route: closed })],
    routes: [open, closed],
    routingRules: [aRule({ mccmnc: '26201', route: open })],
  }
  let directory = aDirectory(contents)
  const look = due(() => directory)
  look.adopt()
  vi.advanceTimersByTime(60_000)
  directory = aDirectory(contents)
  look.adopt()
  await look.runOnce()
  expect(taken).toEqual([])
  directory = aDirectory({ ...contents, ...change })
  look.adopt()
  await look.runOnce()
  expect(taken).toHaveLength(5)
})

test.each<[string, Partial<DueDispatchesOptions>]>([
  ['the lease may be over', { lease: { nodeId: 1, buckets: [], alive: false, isAlone: true } }],
  ['the database does not take what is recorded', { recorder: { isStalled: true, backlog: 0 } }],
  ['outcomes wait to be written', { recorder: { isStalled: false, backlog: 6_000 } }],
  ['no carrier is there', { isRouteOpen: () => false }],
])('takes nothing while %s', async (_name, changes) => {
  await store(5, 1)
  expect(await due(() => directoryOf([]), changes).runOnce()).toBe(0)
  expect(taken).toEqual([])
})

test('where nothing waits, only that is asked; what then waits past its validity is taken by the next look', async () => {
  let loads = 0
  const loader = loading(db)
  const load: typeof loader.load = (...request) => {
    loads += 1
    return loader.load(...request)
  }
  const inProgress = { ...loader, load }
  const look = due(() => directoryOf([]), { inProgress })
  await look.runOnce()
  expect(loads).toBe(0)
  await store(5, 2)
  await db.query('update dispatches set expires_at = now()')
  expect(await look.runOnce()).toBe(5)
})

test('nothing of a plan that is not active, nor beyond the room there is', async () => {
  await store(5, 1)
  await due(() => directoryOf([], false)).runOnce()
  expect(taken).toEqual([])
  held.room.reserve(9_950)
  await due(() => directoryOf([])).runOnce()
  expect(taken).toEqual([])
})

test.each<[string, number, Partial<DueDispatchesOptions>]>([
  ['whose webhooks wait', 200, { webhookRoom: () => -3_000 }],
  ['while memory is nearly full', 100, { inProgress: { ...loading(db), hasRoom: false } }],
])('a plan %s is given few messages at a time', async (_name, few, changes) => {
  await store(500, 1)
  const enqueue: DueDispatchesOptions['enqueue'] = ({ msgId, accepted }) => {
    held.add({ ...accepted, msgId }, open.id)
    taken.push(msgId)
  }
  const look = due(() => directoryOf([]), { enqueue, ...changes })
  expect([await look.runOnce(), await look.runOnce()]).toEqual([few, 0])
  for (const msgId of taken.splice(0)) held.drop(msgId)
  expect(await look.runOnce()).toBe(few)
})

test('what has no label yet finds no more room than there is for any open route', async () => {
  await store(5, 0)
  for (let count = 0; held.roomFor(plan, 1) > 0; count += 1)
    held.add({ msgId: `m-${count}`, planId: plan, body: '', segments: 1 }, 1)
  await due(() => directoryOf(['+44'])).runOnce()
  expect(taken).toEqual([])
  expect(held.roomFor(plan, 0)).toBeGreaterThan(5)
})

test('closed routes are told once; of routes only those whose room is not that of the others', async () => {
  await store(1, closed.id)
  const wishes: unknown[] = []
  const query = async ({ values }: { values: string[] }) => {
    wishes.push({ ...JSON.parse(values[1]!)[plan], closed: values[5] })
    return { rows: [] }
  }
  const inProgress: DueDispatchesOptions['inProgress'] = {
    ...loading(db),
    async load(lane, load) {
      await load({ query } as never, lane, () => false)
      return []
    },
  }
  const trusting = due(() => directoryOf(['+44']), { inProgress, recheckMs: 60_000 })
  trusting.adopt()
  await trusting.runOnce()
  await due(() => directoryOf(['+44']), { inProgress, recheckMs: 0 }).runOnce()
  expect(wishes).toEqual([
    { room: 715, routes: {}, closed: [] },
    { room: 715, routes: {}, closed: [closed.id] },
  ])
})

test('what was handed to a carrier of this node is taken although its route is closed', async () => {
  const rows = [5, 6, 0].map((chosen_carrier_id) =>
    newMessage(plan, { route_id: closed.id, chosen_carrier_id }),
  )
  await insertMessages(db, rows)
  const route = aRoute({ ...closed, carriers: [{ carrierId: 5, priority: 1, weight: 1 }] })
  const plans = [aPlan({ id: plan, route })]
  const directory = aDirectory({ plans, routes: [route] })
  const carriers = () => ({ here: [5], elsewhere: [6] })
  await due(() => directory, { carriers, recheckMs: 0 }).runOnce()
  expect(taken).toEqual([rows[0]!.msg_id])
})

test('what was handed to a carrier of another node is left to it while a route of the plan has the carrier', async () => {
  const row = newMessage(plan, { route_id: open.id, chosen_carrier_id: 6 })
  await insertMessages(db, [row])
  const look = (carrierIds: readonly number[]) => {
    const carriers = carrierIds.map((carrierId, priority) => ({ carrierId, priority, weight: 1 }))
    const route = aRoute({ ...open, carriers })
    const directory = aDirectory({ plans: [aPlan({ id: plan, route })], routes: [route] })
    return due(() => directory, { carriers: () => ({ here: [5], elsewhere: [6, 7] }) }).runOnce()
  }
  expect(await look([5, 6])).toBe(0)
  expect(await look([5, 7])).toBe(1)
  expect(taken).toEqual([row.msg_id])
})

test('a look that is woken for what finds no room is not woken again before the next', async () => {
  let looks = 0
  let answered = 0
  const recorder = {
    isStalled: false,
    get backlog() {
      looks += 1
      return 0
    },
  }
  const watched = gatedDatabase(db, async (name, run) => {
    const answer = await run()
    if (name === 'find_waiting_plans') answered += 1
    return answer
  })
  const look = due(() => directoryOf([]), { db: watched, pollMs: 3_600_000, recorder })
  look.start()
  await store(3, 1)
  look.wake()
  await eventually(() => taken.length === 3)
  // Not while the second look is under way: another one would follow.
  await eventually(() => {
    if (looks === 1) look.wake()
    return answered === 2
  })
  // Nothing is waiting, so the second look is over with this answer.
  await new Promise(setImmediate)
  look.wake()
  expect(looks).toBe(2)
  await look.stop()
})
