import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CONFIRMED_AFTER_MS, LEAST_TIMEOUT_MS } from '../../../src/domain/carriers/inbound-offers.ts'
import { messageId } from '../../../src/domain/identifiers.ts'
import {
  InboundOffers,
  type Offer,
  type OfferingSession,
  type OfferVerdict,
} from '../../../src/services/receiving/inbound-offers.ts'
import { connect } from '../../../src/smpp/connection.ts'
import { decodePdu } from '../../../src/smpp/decoding.ts'
import { encodePdu } from '../../../src/smpp/encoding.ts'
import type { PduInput, PduOf } from '../../../src/smpp/pdu.ts'
import { STATUSES } from '../../../src/smpp/statuses.ts'
import { insertInboundMessages } from '../../../src/store/inbound-messages.ts'
import { deleteOldOffers, isTurnLost } from '../../../src/store/inbound-offers.ts'
import { installedDatabase } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { Smsc } from '../../support/smsc.ts'

const CARRIER_ID = 1
const NOBODY = { nodeId: null, buckets: [] }
const { db } = await installedDatabase()
let nowMs = 0

interface Node {
  readonly nodeId: number
  readonly lease: { nodeId: number; alive: boolean }
  readonly offers: InboundOffers
}

/** A session as the offers see it. */
class Session implements OfferingSession {
  closed: OfferingSession['closed'] = null
  lastReceivedMs = 0
  isUnbindSent = false
  readonly #whenClosed = Promise.withResolvers<void>()

  whenClosed(): Promise<void> {
    return this.#whenClosed.promise
  }

  close(code: NonNullable<OfferingSession['closed']>['code']): void {
    this.closed = { code, atMs: nowMs }
  }
}

async function startNode(name: string): Promise<Node> {
  const { rows } = await db.query(
    `insert into nodes (name, expires_at) values ($1, now() + interval '1 minute') returning node_id`,
    [name],
  )
  const nodeId = rows[0].node_id
  const lease = { nodeId, alive: true }
  const offers = new InboundOffers({
    db,
    lease,
    newOfferId: () => messageId(Date.now(), randomBytes(9), 0),
    clock: () => nowMs,
    log: strictLog,
  })
  return { nodeId, lease, offers }
}

let one: Node
let other: Node

beforeEach(async () => {
  nowMs = 1_000
  await db.query('truncate inbound_offers, nodes')
  one = await startNode('one')
  other = await startNode('other')
})

afterEach(() => Promise.all([one.offers.stop(), other.offers.stop()]))

function pdu(text = 'YES', more: Partial<PduInput<'deliver_sm'>> = {}): PduOf<'deliver_sm'> {
  const fields = { source_addr: '4670000001', destination_addr: '72000', short_message: Buffer.from(text) }
  return decodePdu(encodePdu({ command: 'deliver_sm', ...fields, ...more })) as PduOf<'deliver_sm'>
}

function arrived(node: Node, session: Session, of = pdu()): Offer {
  session.lastReceivedMs = nowMs
  return node.offers.arrived(of, CARRIER_ID, session)
}

/** Judges these as one batch and records what is new, as the receiver does. */
async function received(node: Node, ...offers: Offer[]): Promise<readonly OfferVerdict[]> {
  const verdicts = await node.offers.judge(offers)
  const fresh = offers.filter((_, index) => verdicts[index] === 'new')
  const keys = fresh.map((offer) => node.offers.keyOf(offer))
  await insertInboundMessages(db, [], NOBODY, { offers: keys, nodeId: node.nodeId })
  return verdicts
}

/** Arrives, is recorded and answered at once. */
async function acknowledged(node: Node, session: Session, of = pdu()): Promise<OfferVerdict> {
  const offer = arrived(node, session, of)
  const [verdict] = await received(node, offer)
  node.offers.answered(offer, verdict === 'unclear' ? 'refused' : 'acknowledged')
  return verdict!
}

/** Records it as it was judged. */
function record(node: Node, offer: Offer): Promise<string[]> {
  return insertInboundMessages(db, [], NOBODY, { offers: [node.offers.keyOf(offer)], nodeId: node.nodeId })
}

/** It comes, is recorded and answered; that the answer is read is known; and its row is gone. */
async function done(node: Node, of = pdu()): Promise<OfferVerdict> {
  const session = new Session()
  const verdict = await acknowledged(node, session, of)
  session.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  await noted(node)
  expect(await rows()).toEqual([])
  return verdict
}

async function rows(): Promise<{ holder: number | null }[]> {
  return (await db.query('select holder from inbound_offers order by offer_id')).rows
}

/** What the node notes once a second. */
const noted = (node: Node) => node.offers.stop()

test('the same contents over a living session are messages of their own, one after the other or at once', async () => {
  const session = new Session()
  expect([
    await acknowledged(one, session),
    await acknowledged(one, session),
    await acknowledged(one, new Session()),
  ]).toEqual(['new', 'new', 'new'])
  expect(await received(one, arrived(one, session), arrived(one, session))).toEqual(['new', 'new'])
})

test('offered again when the session is lost behind the answer: the same, once for each that was recorded', async () => {
  const session = new Session()
  await acknowledged(one, session)
  await acknowledged(one, session)
  session.close('socket_error')
  const next = new Session()
  const verdicts = [
    await acknowledged(one, next),
    await acknowledged(one, next),
    await acknowledged(one, next),
  ]
  expect(verdicts).toEqual(['again', 'again', 'new'])
})

test('once started, it notes by itself what a session that was lost leaves unread', async () => {
  one.offers.start()
  const session = new Session()
  await acknowledged(one, session)
  expect(await rows()).toEqual([{ holder: one.nodeId }])
  session.close('socket_error')
  await eventually(async () => (await rows())[0]?.holder === null)
})

test.each<[string, Partial<PduInput<'deliver_sm'>>]>([
  ['text', { short_message: Buffer.from('yes') }],
  ['sender', { source_addr: '4670000002' }],
  ['number', { destination_addr: '72001' }],
  ['data_coding', { data_coding: 3 }],
  ['esm_class', { esm_class: 0x40 }],
  ['TLV', { tlvs: { user_message_reference: 7 } }],
  ['vendor TLV', { unknownTlvs: new Map([[0x1403, Buffer.from('id-2')]]) }],
])('another %s is another message', async (_name, changes) => {
  const session = new Session()
  await acknowledged(one, session)
  session.close('peer_closed')
  expect(await acknowledged(one, new Session(), pdu('YES', changes))).toBe('new')
})

test('a sequence number and a TLV of the moment say nothing', async () => {
  const session = new Session()
  await acknowledged(one, session)
  session.close('peer_closed')
  expect(
    await acknowledged(one, new Session(), pdu('YES', { sequence: 99, tlvs: { more_messages_to_send: 1 } })),
  ).toBe('again')
})

test('an answer is known to have arrived when the session is heard of later, or is unbound in order', async () => {
  const heard = new Session()
  const unbound = new Session()
  await acknowledged(one, heard)
  await acknowledged(one, unbound, pdu('NO'))
  heard.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  unbound.close('unbound')
  await noted(one)
  expect(await rows()).toEqual([])
  heard.close('socket_error')
  expect([await acknowledged(one, new Session()), await acknowledged(one, new Session(), pdu('NO'))]).toEqual(
    ['new', 'new'],
  )
})

test('of what it recorded before its lease was lost, too, a node notes that the answer has arrived', async () => {
  const [heard, lost] = [new Session(), new Session()]
  await acknowledged(one, heard)
  await acknowledged(one, lost, pdu('NO'))
  await db.query('delete from nodes where node_id = $1', [one.nodeId])
  one.lease.nodeId = (await startNode('one again')).nodeId
  heard.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  lost.close('socket_error')
  await noted(one)
  expect(await rows()).toEqual([{ holder: null }])
  expect([await acknowledged(one, heard), await acknowledged(one, new Session(), pdu('NO'))]).toEqual([
    'new',
    'again',
  ])
})

/** Offered again as long after it as a carrier that waits for an answer least. Returns the first offer. */
async function offeredTwice(session: Session) {
  const first = arrived(one, session)
  await received(one, first)
  nowMs += LEAST_TIMEOUT_MS
  expect(await received(one, arrived(one, session))).toEqual(['again'])
  return first
}

test('no answer for long, or a late one: the carrier has given up on it', async () => {
  const session = new Session()
  const first = await offeredTwice(session)
  one.offers.answered(first, 'acknowledged')
  nowMs += 1
  expect(await acknowledged(one, session)).toBe('new')
  const [early, late] = [
    arrived(one, session, pdu('NO')),
    { ...arrived(one, session, pdu('NO')), arrivedAtMs: nowMs + LEAST_TIMEOUT_MS },
  ]
  expect(await received(one, early, late)).toEqual(['new', 'again'])
})

test('an answer that came too late counts as unread, whatever is heard over its session or however it ends', async () => {
  const [heard, unbound] = [new Session(), new Session()]
  const late = [arrived(one, heard), arrived(one, unbound, pdu('NO'))]
  await received(one, ...late)
  nowMs += LEAST_TIMEOUT_MS
  for (const offer of late) one.offers.answered(offer, 'acknowledged')
  heard.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  unbound.close('unbound')
  await noted(one)
  expect(await rows()).toEqual([{ holder: null }, { holder: null }])
  expect([await acknowledged(one, heard), await acknowledged(one, new Session(), pdu('NO'))]).toEqual([
    'again',
    'again',
  ])
})

test('what came before a late answer, or before the session was lost, is another message, however late it is judged', async () => {
  const session = new Session()
  const first = arrived(one, session)
  await received(one, first)
  nowMs += 1_000
  const second = arrived(one, new Session())
  nowMs += LEAST_TIMEOUT_MS
  one.offers.answered(first, 'acknowledged')
  await noted(one)
  session.close('socket_error')
  expect(await received(one, second)).toEqual(['new'])
  one.offers.answered(second, 'acknowledged')
  expect(await acknowledged(one, new Session())).toBe('again')
})

test('heard of after the answer, then lost before that was noted: the next is another message', async () => {
  const session = new Session()
  await acknowledged(one, session)
  nowMs += CONFIRMED_AFTER_MS
  session.lastReceivedMs = nowMs
  session.close('socket_error')
  expect(await acknowledged(one, new Session())).toBe('new')
})

test('the answer to the first, when it has been offered again meanwhile, decides nothing', async () => {
  const session = new Session()
  const first = await offeredTwice(session)
  one.offers.answered({ ...first, arrivedAtMs: nowMs }, 'acknowledged')
  session.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  await noted(one)
  expect(await rows()).toEqual([{ holder: one.nodeId }])
})

test('a row that another node took over is neither deleted nor released by the first', async () => {
  const [read, lost] = [new Session(), new Session()]
  await acknowledged(one, read)
  await acknowledged(one, lost, pdu('NO'))
  const lapse = `update nodes set expires_at = now() - interval '1 second' where node_id = $1`
  await db.query(lapse, [one.nodeId])
  expect([
    await acknowledged(other, new Session()),
    await acknowledged(other, new Session(), pdu('NO')),
  ]).toEqual(['again', 'again'])
  read.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  lost.close('socket_error')
  await noted(one)
  expect(await rows()).toEqual([{ holder: other.nodeId }, { holder: other.nodeId }])
})

test('released, and still known: the next of its carrier is asked of the database, since another node may have it', async () => {
  const session = new Session()
  const first = arrived(one, session)
  await received(one, first)
  one.offers.answered(first, 'refused')
  await noted(one)
  expect(await acknowledged(other, new Session())).toBe('again')
  expect(await acknowledged(one, session)).toBe('unclear')
})

test('an answer that is written behind our unbind may not be read: the next is the same', async () => {
  await using smsc = await Smsc.start()
  const requests = Promise.withResolvers<PduOf<'deliver_sm'>>()
  const bind = { command: 'bind_transceiver', system_id: 'aldis', password: '' } as const
  const session = connect(
    { host: '127.0.0.1', port: smsc.port, bind, unbindTimeoutMs: 60_000, tickMs: 10 },
    { onRequest: (request) => requests.resolve(request as PduOf<'deliver_sm'>) },
  )
  await session.whenBound()
  const unbinds = new Promise<() => void>((came) => {
    smsc.on('unbind', (request, peer) => came(() => smsc.answer(request, peer)))
  })
  const answer = smsc.deliver({ short_message: Buffer.from('YES') })
  const request = await requests.promise
  nowMs = performance.now()
  const offer = one.offers.arrived(request, CARRIER_ID, session)
  expect(await received(one, offer)).toEqual(['new'])
  const unbound = session.unbind(0)
  const end = await unbinds
  one.offers.answered(offer, 'acknowledged', { isRead: session.respond(request, STATUSES.ESME_ROK) })
  // It came all the same; a carrier that had ended its session at the unbind would not know of it.
  expect(await answer).toBe(STATUSES.ESME_ROK)
  end()
  await unbound
  expect(session.closed?.code).toBe('unbound')
  await noted(one)
  nowMs = performance.now()
  const again = { ...request, sequence: request.sequence + 1 }
  expect(await acknowledged(one, new Session(), again)).toBe('again')
})

test('refused although it is recorded: the next is the same; what is not recorded is new', async () => {
  const session = new Session()
  const recorded = arrived(one, session)
  await received(one, recorded)
  one.offers.answered(recorded, 'refused')
  expect(await acknowledged(one, session)).toBe('again')
  const lost = arrived(one, session, pdu('NO'))
  await one.offers.judge([lost])
  one.offers.answered(lost, 'refused', { mayBeRecorded: false })
  expect(await acknowledged(one, session, pdu('NO'))).toBe('new')
})

test('offered several times before any is judged: the same, whether the first of them is recorded or not', async () => {
  const session = new Session()
  const refused = arrived(one, session)
  await received(one, refused)
  one.offers.answered(refused, 'refused')
  /** Each over a session that is lost before the next comes. */
  const offered = (of: PduOf<'deliver_sm'>) => {
    const next = new Session()
    const offer = arrived(one, next, of)
    next.close('socket_error')
    return offer
  }
  expect(await received(one, offered(pdu()), offered(pdu()), offered(pdu()))).toEqual([
    'again',
    'again',
    'again',
  ])
  const unrecorded = [
    offered(pdu('NO')),
    offered(pdu('NO')),
    arrived(one, session, pdu('NO')),
    arrived(one, session, pdu('NO')),
  ]
  expect(await received(one, ...unrecorded)).toEqual(['unclear', 'unclear', 'new', 'new'])
})

test('its session ends, or is unbound by us, before it is judged: refused, since another node may have taken the repeat', async () => {
  const [ended, unbound] = [new Session(), new Session()]
  const waiting = [arrived(one, ended), arrived(one, unbound, pdu('NO'))]
  ended.close('peer_closed')
  unbound.isUnbindSent = true
  expect([await done(other), await done(other, pdu('NO'))]).toEqual(['new', 'new'])
  expect(await received(one, ...waiting)).toEqual(['unclear', 'unclear'])
})

test('it has waited so long to be judged that its carrier has given up on it: refused', async () => {
  const waiting = arrived(one, new Session())
  nowMs += LEAST_TIMEOUT_MS
  expect(await done(other)).toBe('new')
  nowMs += CONFIRMED_AFTER_MS
  expect(await received(one, waiting)).toEqual(['unclear'])
})

test('it is written long after it was judged: not recorded, since another node may have taken the repeat', async () => {
  const session = new Session()
  const slow = arrived(one, session)
  expect(await one.offers.judge([slow])).toEqual(['new'])
  session.close('peer_closed')
  expect(await done(other)).toBe('new')
  await db.query('select pg_sleep($1)', [CONFIRMED_AFTER_MS / 1_000])
  const failure = await record(one, slow).catch((error: unknown) => error)
  expect(isTurnLost(failure)).toBe(true)
  expect(await received(one, slow)).toEqual(['unclear'])
  expect(await rows()).toEqual([])
})

test('the end of its session is read just behind what came over another after it: the same', async () => {
  const first = new Session()
  await acknowledged(one, first)
  const again = arrived(one, new Session())
  nowMs += 1
  first.close('peer_closed')
  expect(await received(one, again)).toEqual(['again'])
})

test('two that were refused, and each offered again before either is judged: each is one of the two', async () => {
  const session = new Session()
  const refused = [arrived(one, session), arrived(one, session)]
  await received(one, ...refused)
  for (const offer of refused) one.offers.answered(offer, 'refused')
  const again = [arrived(one, session), arrived(one, session), arrived(one, session)]
  expect(await received(one, ...again)).toEqual(['again', 'again', 'new'])
})

test('over the bind of another node: unclear while the first knows the answer, then the same, or new', async () => {
  const session = new Session()
  await acknowledged(one, session)
  expect(await acknowledged(other, new Session())).toBe('unclear')
  session.close('socket_error')
  await noted(one)
  expect(await rows()).toEqual([{ holder: null }])
  expect(await acknowledged(other, new Session())).toBe('again')
  expect(await rows()).toEqual([{ holder: other.nodeId }])
  expect(await acknowledged(one, new Session())).toBe('unclear')
})

test('offered to two nodes at once: one records it, and the other finds that when it looks again', async () => {
  const [here, there] = [arrived(one, new Session()), arrived(other, new Session())]
  const judged = [await one.offers.judge([here]), await other.offers.judge([there])]
  expect(judged).toEqual([['new'], ['new']])
  await record(one, here)
  const failure = await record(other, there).catch((error: unknown) => error)
  expect(isTurnLost(failure)).toBe(true)
  expect(await received(other, there)).toEqual(['unclear'])
  expect(await rows()).toEqual([{ holder: one.nodeId }])
})

test('offered to two nodes at once, and the first does not know whether its answer was read: the other remembers one row', async () => {
  const [first, second] = [new Session(), new Session()]
  const [here, there] = [arrived(one, first), arrived(other, second)]
  await other.offers.judge([there])
  await received(one, here)
  one.offers.answered(here, 'acknowledged')
  first.close('socket_error')
  await noted(one)
  expect(await received(other, there)).toEqual(['again'])
  expect([one.offers.known, other.offers.known]).toEqual([0, 1])
  other.offers.answered(there, 'acknowledged')
  second.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  await noted(other)
  expect([await rows(), other.offers.known]).toEqual([[], 0])
})

test('what a node has before or behind a standstill longer than its lease is refused: another may have taken it', async () => {
  const before = arrived(one, new Session())
  const session = new Session()
  expect(await acknowledged(other, session)).toBe('new')
  session.lastReceivedMs = nowMs + CONFIRMED_AFTER_MS
  await noted(other)
  expect(await rows()).toEqual([])
  one.lease.alive = false
  const behind = arrived(one, new Session(), pdu('NO'))
  expect(await received(one, before)).toEqual(['unclear'])
  one.lease.alive = true
  expect(await received(one, behind)).toEqual(['unclear'])
  expect(await acknowledged(one, new Session(), pdu('NO'))).toBe('new')
})

test('a node that is gone is asked no more; neither is one that was started again', async () => {
  await acknowledged(one, new Session())
  await db.query(`update nodes set expires_at = now() - interval '1 second' where node_id = $1`, [one.nodeId])
  expect(await acknowledged(other, new Session())).toBe('again')
  await acknowledged(one, new Session(), pdu('NO'))
  const again = await startNode('one again')
  expect(await acknowledged({ ...again, nodeId: one.nodeId }, new Session(), pdu('NO'))).toBe('again')
})

test('after a quarter of an hour nothing is known any more', async () => {
  const session = new Session()
  await acknowledged(one, session)
  session.close('socket_error')
  await db.query(`update inbound_offers set offered_at = now() - interval '16 minutes'`)
  expect(await acknowledged(one, new Session())).toBe('new')
  expect(await deleteOldOffers(db, 15 * 60_000, 10)).toBe(1)
  expect(await rows()).toHaveLength(1)
})
