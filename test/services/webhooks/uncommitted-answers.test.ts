import { afterAll, afterEach, expect, test } from 'vitest'
import { formatWebhookSecret } from '../../../src/domain/webhooks/requests.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import { MessagesInProgress } from '../../../src/services/messages/messages-in-progress.ts'
import { NodeLease } from '../../../src/services/node/node-lease.ts'
import { Deliverer } from '../../../src/services/webhooks/deliverer.ts'
import { Destinations } from '../../../src/services/webhooks/destinations.ts'
import { heldEvents } from '../../../src/services/webhooks/held-events.ts'
import { aDirectory, anAccount, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { quietLog as log } from '../../support/log.ts'
import { acceptedFact } from '../../support/messages-in-memory.ts'
import { outboundNetwork } from '../../support/outbound-network.ts'
import { receipt, sent, submission } from '../../support/stored-messages.ts'
import { acknowledge, type WebhookExchange, type WebhookReceiver } from '../../support/webhook-receiver.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 8 })
const network = await outboundNetwork()
const LEASE_MS = 3_600_000
const lease = new NodeLease({
  ...{ db, log, name: 'node', heartbeatMs: LEASE_MS, leaseMs: LEASE_MS },
  onBarred: () => undefined,
})
await lease.start()
afterAll(() => lease.stop())

const account = anAccount({ webhookSecrets: [formatWebhookSecret(Buffer.alloc(32, 1))] })

let receiver: WebhookReceiver
let stop: () => Promise<void>
afterEach(() => stop())

/** A node whose journal entries wait, once they are held, until they are let go one by one. */
async function aNode() {
  receiver = await network.receiver()
  const directory = aDirectory({ accounts: [account], plans: [aPlan({ id: plan, account })] })
  const parts = { directory: () => directory, clock: Date.now, log }
  const entries: (() => void)[] = []
  let areHeld = false
  const gated = gatedDatabase(db, async (name, run) => {
    if (areHeld && name === 'append_entry') await new Promise<void>((go) => entries.push(go))
    return await run()
  })
  const inProgress = new MessagesInProgress({ ...parts, db: gated, ageMs: LEASE_MS })
  const destinations = new Destinations({ db, log })
  const deliverer = new Deliverer({
    ...{ ...parts, db, lease, inProgress, destinations },
    sender: network.sender(),
    secretKey: Buffer.alloc(32),
  })
  inProgress.heardBy({
    eventHolder: () => deliverer.due.holder(),
    onChanged: (messages, holder) => deliverer.enqueue(heldEvents(messages, holder)),
  })
  await inProgress.register(lease.nodeId)
  const letGo = () => {
    areHeld = false
    for (const go of entries.splice(0)) go()
  }
  stop = async () => {
    letGo()
    await deliverer.stop(1_000)
    await destinations.stop()
    await inProgress.stop(1_000)
  }
  return {
    inProgress,
    letGo,
    hold: () => {
      areHeld = true
    },
    /** The next entry that is held. */
    next: () => eventually(() => entries.shift()),
    async accept(): Promise<string> {
      const msgId = newId(Date.now())
      const accepted = acceptedFact(plan, msgId, { begun: true, callbackUrl: network.urlAt(receiver.port) })
      expect(await inProgress.accept({ msgId, owner: lease.nodeId, accepted })).toBe('committed')
      expect(inProgress.addOutcome(submission(plan, msgId, msgId))).toBe(true)
      return msgId
    },
  }
}

const sequences = (msgId: string) =>
  receiver.received.filter((one) => one.msgId === msgId).map(({ sequence }) => sequence)

/**
 * A receiver has answered a message's first event, and its second is announced, by an entry that was on its way before that
 * answer. The entry with the answer is held.
 */
async function answeredBehind() {
  const node = await aNode()
  const first: WebhookExchange[] = []
  receiver.answerWith((exchange) => void first.push(exchange))
  const [msgId, other] = [await node.accept(), await node.accept()]
  expect(node.inProgress.addOutcome(sent(plan, msgId))).toBe(true)
  await eventually(() => first.length === 1)
  receiver.answerWith(acknowledge)
  node.hold()
  expect(node.inProgress.receipts.match(receipt(msgId, 'DELIVERED', { mccmnc: null }), null)).toBe('matched')
  expect(node.inProgress.addOutcome(sent(plan, other))).toBe(true)
  const delivered = await node.next()
  first[0]!.respond(200)
  const answered = await node.next()
  delivered()
  // Announced by the same entry, behind the second event.
  await eventually(() => sequences(other).length === 1)
  return { node, msgId, answered }
}

test('an event waits until the answer to the one before it is committed, also if it was announced before that answer', async () => {
  const { node, msgId, answered } = await answeredBehind()
  expect(node.inProgress.get(msgId)).toMatchObject({ state: { status: 'DELIVERED' } })
  expect(sequences(msgId)).toEqual([1])
  node.letGo()
  answered()
  await eventually(() => sequences(msgId).length === 2)
  expect(sequences(msgId)).toEqual([1, 2])
})

test('if the node dies before that, the first event comes again before the second', async () => {
  const { msgId } = await answeredBehind()
  expect(sequences(msgId)).toEqual([1])
  await db.query('update lanes set node_id = 77')
  await recoverLanes(db, { nodeId: lease.nodeId, ambiguityWaitMs: 0, delivers: () => true, log })
  const { rows } = await db.query(
    'select sequence from event_deliveries where msg_id = $1 and due_at <= now() order by sequence',
    [msgId],
  )
  expect(rows).toEqual([{ sequence: 1 }, { sequence: 2 }])
})
