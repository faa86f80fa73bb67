/** Inbound messages of plans whose worker is away. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  deliverCompleteSets,
  deliverIncompleteSets,
  type ReceivedInbound,
} from '../../src/operations/receive-inbound.ts'
import { MessagesInProgress } from '../../src/services/messages/messages-in-progress.ts'
import type { Recorder } from '../../src/services/messages/recorder.ts'
import type { NodeLease } from '../../src/services/node/node-lease.ts'
import { InboundOffers } from '../../src/services/receiving/inbound-offers.ts'
import { Receiver } from '../../src/services/receiving/receiver.ts'
import type { Connection } from '../../src/smpp/connection.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { PduOf } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { serversOfPlans } from '../../src/store/citus.ts'
import { insertInboundParts } from '../../src/store/inbound-parts.ts'
import { signalAll } from '../faults/postgres-server.ts'
import { aCarrier, aDirectory, aPlan } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { inboundDeps, single } from '../support/inbound-segments.ts'
import { newId } from '../support/installation.ts'
import { KeptLog } from '../support/log.ts'
import { HOLDER } from '../support/stored-messages.ts'
import { createPlans, migrated, ownCluster, workerOf } from './cluster.ts'

const NODE = 1
const NEVER = new Promise<never>(() => undefined)

const cluster = await ownCluster()
const db = await migrated(cluster, 6)
const plans = await createPlans(db, 8)
const servers = await serversOfPlans(db)
const gone = new Set(plans.filter((planId) => servers.get(planId) === servers.get(plans[0]!)))
const there = new Set(plans.filter((planId) => !gone.has(planId)))
const worker = await workerOf(cluster, db, plans[0]!)

/** Offers a message to the number of each of these plans at once. Returns the statuses of the answers, by plan. */
async function offer(
  receiver: Receiver,
  to: readonly number[],
  text: string,
): Promise<Map<number, string | undefined>> {
  const answers = to.map(
    (planId) =>
      new Promise<[number, string | undefined]>((answer) => {
        const link = {
          ...{ isUnbindSent: false, closed: null, lastReceivedMs: 0, whenClosed: () => NEVER },
          respond(_: unknown, status: number) {
            answer([planId, Object.entries(STATUSES).find(([, code]) => code === status)?.[0]])
            return true
          },
        }
        const sent = decodePdu(
          encodePdu({
            ...{ command: 'deliver_sm', source_addr: '4670000001', destination_addr: `7200${planId}` },
            short_message: Buffer.from(text),
          }),
        ) as PduOf<'deliver_sm'>
        receiver.onRequest(sent, link as unknown as Connection<unknown>, aCarrier(), 0)
      }),
  )
  return new Map(await Promise.all(answers))
}

test('inbound messages for a worker that hangs are left to the carrier, and those of the other are recorded', async () => {
  const log = new KeptLog()
  const numbers = plans.map((id) => {
    const plan = aPlan({ id })
    return [`7200${id}`, { number: `7200${id}`, plan, keywords: [] }] as const
  })
  const directory = () => aDirectory({ inboundNumbers: new Map(numbers) })
  const node = { db, log, directory, clock: Date.now }
  const inProgress = new MessagesInProgress(node)
  const lease = {
    nodeId: NODE,
    buckets: HOLDER.buckets,
    alive: true,
    nextBucket: () => 0,
  } as unknown as NodeLease
  const offers = new InboundOffers({
    ...node,
    lease,
    newOfferId: () => newId(Date.now()),
    clock: () => performance.now(),
  })
  const refused: unknown[] = []
  const receiver = new Receiver({
    ...{ ...node, lease, inProgress, offers, random: randomBytes },
    recorder: { failing: false, isStalled: false } as Recorder,
    siblings: { handOver: () => false },
    refusedPdus: { add: (...of) => refused.push(of) },
    writeEvents: (write) => write(HOLDER),
    onReceived: () => undefined,
    onUnowned: () => undefined,
    onAnomaly: () => undefined,
  })
  const all = new Map(plans.map((planId) => [planId, 'ESME_ROK']))
  const those = new Map(plans.map((planId) => [planId, there.has(planId) ? 'ESME_ROK' : 'ESME_RX_T_APPN']))
  expect(await offer(receiver, plans, 'before')).toEqual(all)
  signalAll(worker.pids, 'SIGSTOP')
  try {
    // The first batch finds that the worker hangs, the next knows it.
    expect(await offer(receiver, plans, 'first')).toEqual(those)
    expect(await offer(receiver, plans, 'second')).toEqual(those)
  } finally {
    signalAll(worker.pids, 'SIGCONT')
  }
  await eventually(() => !inProgress.away.knowsOfAny)
  // The carrier offers again what was refused.
  const again = await offer(receiver, [...gone], 'second')
  expect([...again.values()]).toEqual([...gone].map(() => 'ESME_ROK'))
  const { rows } = await db.query(
    'select body, count(*)::integer as n from inbound_messages group by body order by body',
  )
  expect(rows).toEqual([
    { body: 'before', n: plans.length },
    { body: 'first', n: there.size },
    { body: 'second', n: plans.length },
  ])
  await inProgress.away.stop()
})

test.each([
  ['incomplete', deliverIncompleteSets, 2],
  ['complete', deliverCompleteSets, 1],
])('%s inbound messages of plans that are away wait, and hold up no others', async (_, sweep, total) => {
  const numberOf = (planId: number) => `+7300${planId}`
  const numbers = plans.map((id) => {
    const number = numberOf(id)
    return [number, { number, plan: aPlan({ id }), keywords: [] }] as const
  })
  const directory = aDirectory({ inboundNumbers: new Map(numbers) })
  const deps = inboundDeps({ db, directory, newMessageId: () => newId(Date.now()) })
  const { part: _part, ...whole } = single('part')
  const part = { kind: 'udh8', reference: 1, total, sequence: 1, receivedAtMs: 0 } as const
  await insertInboundParts(
    db,
    // Carriers write numbers with and without the plus.
    plans.map((id) => ({ ...whole, ...part, recipient: numberOf(id).slice(id % 2) })),
  )
  const plansOf = (received: readonly ReceivedInbound[]) => new Set(received.map(({ plan }) => plan.id))
  db.awayPlans = gone
  expect(plansOf(await sweep(deps))).toEqual(there)
  expect(await sweep(deps)).toEqual([])
  db.awayPlans = undefined
  expect(plansOf(await sweep(deps))).toEqual(gone)
})
