/** Webhooks from a database to a receiver over TLS, by a clock that stands until it is set: days in milliseconds. */

import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import type { EventHolder } from '../../src/domain/events.ts'
import { formatWebhookSecret } from '../../src/domain/webhooks/requests.ts'
import { NodeLease } from '../../src/services/node/node-lease.ts'
import { Deliverer, type DelivererOptions } from '../../src/services/webhooks/deliverer.ts'
import { Destinations } from '../../src/services/webhooks/destinations.ts'
import { heldEvents } from '../../src/services/webhooks/held-events.ts'
import { aDirectory, anAccount, aPlan } from './directory.ts'
import { gatedDatabase, lostAnswer } from './gated-database.ts'
import { nothingInProgress } from './in-progress.ts'
import { KeptLog } from './log.ts'
import { outboundNetwork } from './outbound-network.ts'
import { recordedMessages } from './recorded-messages.ts'
import { standingClock } from './standing-clock.ts'
import { NOBODY, receipt, sent, storeMessage, submission } from './stored-messages.ts'
import {
  acknowledge,
  type ReceivedWebhook,
  type WebhookAnswer,
  type WebhookReceiver,
} from './webhook-receiver.ts'

/** Longer than any test: after the first, heartbeats come from the tests alone. */
export const CLOCKED_LEASE_MS = 3_600_000

/** A delivery as the database has it. */
export interface StoredDelivery {
  readonly msgId: string
  readonly sequence: number
  readonly failedAttempts: number
  readonly state: 'waiting' | 'parked' | 'failed'
  readonly held: boolean
  /** Unix milliseconds; Infinity when there is no end to it. */
  readonly dueMs: number
}

/** One node for all tests of a file, made outside of any. `isThreaded`: webhooks are sent by a thread, as by the service. */
export async function clockedDeliveries({
  isThreaded = false,
  ...memory
}: Pick<DelivererOptions, 'limits' | 'maxHeld'> & { readonly isThreaded?: boolean } = {}) {
  const network = await outboundNetwork()
  const messages = await recordedMessages()
  const clock = await standingClock(messages)
  const { db } = clock
  const losing = new Set<string | undefined>()
  const gates = new Map<string | undefined, Promise<void>>()
  const lossy = gatedDatabase(
    db,
    async (name, run) => {
      await gates.get(name)
      const answer = await run()
      if (losing.delete(name)) throw lostAnswer()
      return answer
    },
    { inTransactions: true },
  )
  const { plan } = messages
  const log = new KeptLog()
  const lease = new NodeLease({
    db,
    name: 'node',
    onBarred: () => undefined,
    log,
    heartbeatMs: CLOCKED_LEASE_MS,
    leaseMs: CLOCKED_LEASE_MS,
  })
  await lease.start()
  lease.onExpired(() => deliverer.dropAll())
  const account = anAccount({ webhookSecrets: [formatWebhookSecret(Buffer.alloc(32, 1))] })

  let receiver: WebhookReceiver
  let destinations: Destinations
  let deliverer: Deliverer
  beforeEach(async () => {
    for (const table of ['event_deliveries', 'webhook_attempts', 'webhook_destinations', 'events'])
      await messages.db.query(`delete from ${table}`)
    await clock.set(Date.now())
    receiver = await network.receiver()
    start()
  })
  afterEach(async () => {
    await deliverer.stop(1_000)
    await destinations.stop()
    expect(errors()).toEqual([])
  })
  afterAll(async () => {
    await lease.stop()
    await clock[Symbol.asyncDispose]()
  })

  /** What was logged as an error since the last call. A test fails for those that it does not ask for. */
  function errors(): string[] {
    const logged = log.errors
    log.lines.length = 0
    return logged
  }

  function start(): void {
    const inboundUrl = network.urlAt(receiver.port)
    const directory = aDirectory({ accounts: [account], plans: [aPlan({ id: plan, account, inboundUrl })] })
    destinations = new Destinations({ db, log })
    deliverer = new Deliverer({
      db: lossy,
      directory: () => directory,
      lease,
      sender: isThreaded ? network.threadSender() : network.sender(),
      destinations,
      inProgress: nothingInProgress(db),
      secretKey: Buffer.alloc(32),
      log,
      clock: clock.now,
      ...memory,
    })
  }

  /** A message with the event SENT, and DELIVERED behind it where that is asked for; to the receiver under this name. */
  async function announced(host = 'receiver', { delivered = false } = {}): Promise<string> {
    const callback_url = network.urlAt(receiver.port, '/hook', `${host}.example.com`)
    const msgId = await storeMessage(messages.db, plan, { callback_url })
    await messages.record([sent(plan, msgId)], [submission(plan, msgId, msgId)], messages.db, NOBODY)
    if (delivered) await messages.apply([receipt(msgId, 'DELIVERED')], { holder: NOBODY })
    await clock.set(Date.now() + 1)
    return msgId
  }

  /**
   * The same, its event in memory, and DELIVERED behind it. `lost`: SENT is not, for the answer to its COMMIT was lost.
   * `meanwhile` runs between the COMMIT and its answer.
   */
  async function enqueued({
    delivered = false,
    lost = false,
    meanwhile = () => Promise.resolve(),
  } = {}): Promise<string> {
    const callback_url = network.urlAt(receiver.port)
    const msgId = await storeMessage(messages.db, plan, { callback_url })
    const { write } = deliverer.due
    const of = [[sent(plan, msgId)], [submission(plan, msgId, msgId)], lossy] as const
    if (lost) losing.add('commit')
    let holder: number | null = null
    const submitted = write((given) => {
      ;({ nodeId: holder } = given)
      return messages.record(...of, given)
    })
    if (lost) await expect(submitted).rejects.toThrow()
    else await submitted
    const apply = (holder: EventHolder) => messages.apply([receipt(msgId, 'DELIVERED')], { holder })
    const changed = delivered ? await write(apply) : []
    await clock.set(Date.now() + 1)
    await meanwhile()
    deliverer.enqueue(heldEvents([...(lost ? [] : await submitted), ...changed], holder))
    return msgId
  }

  /** Looks until nothing is left to deliver. */
  async function runOut(): Promise<void> {
    while ((await deliveries()).length > 0) {
      await look()
      await destinations.runOnce()
    }
  }

  /** One look, and what it has taken is delivered. */
  async function look(): Promise<void> {
    await deliverer.due.runOnce()
    while (deliverer.heldMessages > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Does what is due at this time, to its end; gives what the receiver got. */
  async function run(): Promise<readonly ReceivedWebhook[]> {
    const before = receiver.received.length
    await deliverer.due.runOnce()
    await settled()
    return receiver.received.slice(before)
  }

  /** Nothing is under way, in memory or not yet written, and what a breaker parks is parked. */
  async function settled(): Promise<void> {
    while (deliverer.heldMessages > 0) await new Promise((resolve) => setImmediate(resolve))
    await destinations.runOnce()
    for (let unsettled = 1; unsettled > 0; ) {
      const { rows } = await db.query(`
        select from event_deliveries d left join webhook_destinations t using (plan_id, destination)
        where d.holder is not null or d.state = 'waiting' and t.state = 'open'`)
      unsettled = rows.length
    }
  }

  async function deliveries(): Promise<StoredDelivery[]> {
    const { rows } = await db.query(`
      select msg_id as "msgId", sequence, failed_attempts as "failedAttempts", state, holder is not null as held, due_at as "dueAt" from event_deliveries
      order by due_at, msg_id, sequence`)
    return rows.map(({ dueAt, ...row }) => ({ ...row, dueMs: Number(dueAt) }))
  }

  /** Goes on to when the next delivery is due, and does it; nothing is due a millisecond before. Gives how long that was. */
  async function runNext(): Promise<{ afterMs: number; received: readonly ReceivedWebhook[] }> {
    const [next] = await deliveries()
    const fromMs = clock.now()
    const dueMs = next!.dueMs
    await clock.set(dueMs - 1)
    expect(await run()).toEqual([])
    await clock.set(dueMs)
    return { afterMs: dueMs - fromMs, received: await run() }
  }

  return {
    db,
    clock,
    lease,
    plan,
    errors,
    announced,
    enqueued,
    /** The answer to the next statement of this name is lost. */
    lose: (name: string) => void losing.add(name),
    /** Statements of this name wait until it is told to go on. */
    gate(name: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.set(name, promise)
      return resolve
    },
    look,
    runOut,
    run,
    runNext,
    settled,
    deliveries,
    answerWith: (answer: WebhookAnswer) => receiver.answerWith(answer),
    acknowledge: () => receiver.answerWith(acknowledge),
    get received() {
      return receiver.received
    },
    get destinations() {
      return destinations
    },
    get deliverer() {
      return deliverer
    },
  }
}
