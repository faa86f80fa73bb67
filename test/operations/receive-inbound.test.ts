import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Part } from '../../src/domain/concatenation.ts'
import { parseUserData, UDHI } from '../../src/domain/concatenation.ts'
import { Directory, type ServicePlan } from '../../src/domain/directory.ts'
import { DEFAULT_LANGUAGE } from '../../src/domain/gsm-national-tables.ts'
import { createdAtMs } from '../../src/domain/message-ids.ts'
import { DEFAULT_OPT_OUT } from '../../src/domain/opt-outs.ts'
import {
  deliverCompleteSets,
  deliverIncompleteSets,
  type InboundDeps,
  type InboundSegment,
  type ReceivedInbound,
  receiveInbound,
} from '../../src/operations/receive-inbound.ts'
import { ensurePartitions } from '../../src/services/day-partitions.ts'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { type InboundPart, insertInboundParts, takeFinishedSets } from '../../src/store/inbound-parts.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type Installation, newId, otherPool, seedInstallation } from '../support/installation.ts'

const NOW_MS = Date.UTC(2026, 2, 10, 12)
const SENDER = '+491701234567'
const NUMBER = '+49301234567'
const MINUTE_MS = 60_000

let fresh: FreshDatabase
let installation: Installation

beforeAll(async () => {
  fresh = await freshDatabase()
  await ensurePartitions(fresh.db, NOW_MS)
  installation = await seedInstallation(fresh.db)
})

beforeEach(() =>
  fresh.db.query('truncate inbound_messages, inbound_parts, unowned_inbound_messages, webhook_events'),
)

afterAll(() => fresh[Symbol.asyncDispose]())

function depsOf(db: Database = fresh.db, given: Partial<InboundDeps> = {}): InboundDeps {
  return {
    db,
    directory: installation.directory,
    newMessageId: () => newId(NOW_MS),
    holder: { holder: 3, buckets: [7] },
    ...given,
  }
}

function single(text: string, given: Partial<InboundSegment> = {}): InboundSegment {
  return {
    carrierId: 1,
    sender: SENDER,
    recipient: NUMBER,
    dataCoding: 3,
    payload: Buffer.from(text, 'latin1'),
    part: null,
    language: DEFAULT_LANGUAGE,
    receivedAtMs: Date.now(),
    ...given,
  }
}

function partOf(
  text: string,
  sequence: number,
  part: Partial<Part> = {},
  given: Partial<InboundSegment> = {},
): InboundSegment {
  return single(text, { part: { kind: 'udh8', reference: 42, total: 3, sequence, ...part }, ...given })
}

const texts = (received: readonly ReceivedInbound[]) => received.map(({ inbound }) => inbound.body).sort()
const three = (given: Partial<Part> = {}) =>
  ['one ', 'two ', 'three'].map((text, i) => partOf(text, i + 1, given))

async function countOf(table: string): Promise<number> {
  const { rows } = await fresh.db.query<{ n: number }>(`select count(*) as n from ${table}`)
  return rows[0]!.n
}

async function storedTexts(): Promise<string[]> {
  const { rows } = await fresh.db.query<{ body: string }>('select body from inbound_messages order by body')
  return rows.map((row) => row.body)
}

describe('STOP', () => {
  const listening = (): Directory => {
    const { contents } = installation.directory
    const listens = (plan: ServicePlan) =>
      plan.id === installation.announcedPlan ? { ...plan, optOut: DEFAULT_OPT_OUT } : plan
    const numbers = [...contents.inboundNumbers].map(
      ([number, owner]) => [number, { ...owner, plan: listens(owner.plan) }] as const,
    )
    return new Directory({
      ...contents,
      plans: contents.plans.map(listens),
      inboundNumbers: new Map(numbers),
    })
  }
  const keptOf = async () => {
    const { rows } = await fresh.db.query(
      'select plan_id, sender, recipient from opt_outs order by recipient',
    )
    return rows
  }
  const [other, third] = ['+491701234568', '+491701234569']

  beforeEach(() => fresh.db.query('truncate opt_outs'))

  test('is kept with its message, in one part or several, under the number as it is owned', async () => {
    const deps = depsOf(fresh.db, { directory: listening() })
    const received = await receiveInbound(deps, [
      single('stop!'),
      single('Stop', { sender: other, recipient: '+7654321' }),
      partOf('ST', 1, { total: 2 }, { sender: third }),
      partOf('OP', 2, { total: 2 }, { sender: third }),
      single('stop', { sender: other, recipient: '+49307654321' }),
      single('stop', { sender: other, recipient: '+4999999999' }),
    ])
    expect(texts(received)).toEqual(['STOP', 'Stop', 'stop', 'stop!'])
    const plan_id = installation.announcedPlan
    expect(await keptOf()).toEqual([
      { plan_id, sender: NUMBER, recipient: SENDER },
      { plan_id, sender: '7654321', recipient: other },
      { plan_id, sender: NUMBER, recipient: third },
    ])
    await receiveInbound(deps, [single('hello', { sender: third }), single('Start')])
    expect((await keptOf()).map(({ recipient }) => recipient)).toEqual([other, third])
  })

  test('is not kept where its message is not', async () => {
    const id = newId(NOW_MS)
    const deps = depsOf(fresh.db, { directory: listening(), newMessageId: () => id })
    await expect(receiveInbound(deps, [single('STOP'), single('twice the id')])).rejects.toThrow()
    expect([await keptOf(), await countOf('inbound_messages')]).toEqual([[], 0])
  })

  test('is a message like any other where nobody listens', async () => {
    expect(texts(await receiveInbound(depsOf(), [single('STOP')]))).toEqual(['STOP'])
    expect(await keptOf()).toEqual([])
  })
})

describe('a single message', () => {
  test('is recorded with its event and given back', async () => {
    const [received] = await receiveInbound(depsOf(), [single('Grüße')])
    expect(received).toMatchObject({
      inbound: {
        planId: installation.announcedPlan,
        sender: SENDER,
        recipient: NUMBER,
        body: 'Grüße',
        keyword: null,
      },
      plan: { servicePlanId: '111111111111111111111111' },
      held: true,
    })
    expect(createdAtMs(received!.inbound.msgId)).toBe(NOW_MS)
    const { rows } = await fresh.db.query('select * from webhook_events')
    expect(rows).toMatchObject([
      { msg_id: received!.inbound.msgId, seq: 0, status: null, holder: 3, occurred_at: new Date(NOW_MS) },
    ])
  })

  test('an empty batch does nothing', async () => {
    expect(await receiveInbound(depsOf(), [])).toEqual([])
  })

  test('whose bucket this node does not own waits for the owner', async () => {
    const deps = depsOf(fresh.db, { newMessageId: () => newId(NOW_MS, 8) })
    expect((await receiveInbound(deps, [single('x')])).map(({ held }) => held)).toEqual([false])
  })

  test('to a plan without an inbound URL is kept, without an event', async () => {
    const received = await receiveInbound(depsOf(), [single('quiet', { recipient: '+49307654321' })])
    expect(received).toMatchObject([{ inbound: { planId: installation.silentPlan }, held: false }])
    expect([await countOf('inbound_messages'), await countOf('webhook_events')]).toEqual([1, 0])
  })

  test.each([
    ['+49301234567', '+49301234567'],
    ['49301234567', '+49301234567'],
    ['12345', '12345'],
    ['+7654321', '7654321'],
  ])('to %s reaches the owner of %s, under the configured number', async (recipient, number) => {
    const received = await receiveInbound(depsOf(), [single('x', { recipient })])
    expect(received.map(({ inbound }) => inbound.recipient)).toEqual([number])
  })

  test.each(['+15550001111', '', '99999', 'constructor'])(
    'to %j, which nobody owns, is kept apart and counted',
    async (recipient) => {
      let unowned = 0
      const deps = depsOf(fresh.db, { onUnowned: (count) => (unowned += count) })
      const received = await receiveInbound(deps, [single('lost', { recipient }), single('mine')])
      expect([texts(received), unowned]).toEqual([['mine'], 1])
      const { rows } = await fresh.db.query('select sender, recipient, body from unowned_inbound_messages')
      expect(rows).toEqual([{ sender: SENDER, recipient, body: 'lost' }])
    },
  )

  test.each([
    ['stop', 'STOP'],
    ['Stop! it now', 'STOP'],
    ['HALLO du', 'Hallo'],
    ['please stop', null],
    ['', null],
  ])('%j has the keyword %j', async (text, keyword) => {
    const received = await receiveInbound(depsOf(), [single(text)])
    expect(received.map(({ inbound }) => inbound.keyword)).toEqual([keyword])
    expect((await fresh.db.query('select keyword from inbound_messages')).rows).toEqual([{ keyword }])
  })

  test('with a malformed user data header comes as it is', async () => {
    const raw = Buffer.from([0x05, 0x00, 0x03, 0x2a, 0x02])
    const { payload, part } = parseUserData({ esmClass: UDHI, shortMessage: raw, tlvs: {} })
    const received = await receiveInbound(depsOf(), [single('', { payload, part })])
    expect(texts(received)).toEqual([raw.toString('latin1').replaceAll('\0', '')])
  })

  test('in a national language', async () => {
    const turkish = { dataCoding: 0, language: { locking: 1, single: 1 } }
    expect(texts(await receiveInbound(depsOf(), [single('\x1bIlk ya\x0c\x1bs', turkish)]))).toEqual([
      'İlk yağş',
    ])
  })

  test('with octets that PostgreSQL cannot hold as text is recorded without them', async () => {
    const ucs2 = Buffer.from([0x00, 0x41, 0x00, 0x00, 0xd8, 0x3d, 0x00, 0x42, 0x99])
    await receiveInbound(depsOf(), [single('', { payload: ucs2, dataCoding: 8 }), single('a\0b')])
    expect(await storedTexts()).toEqual(['A\ufffdB', 'ab'].sort())
  })
})

describe('a message in parts', () => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]

  test.each(orders)('comes whole in the order %i %i %i, one by one and in one batch', async (...order) => {
    const parts = order.map((index) => three()[index]!)
    const received = [
      await receiveInbound(depsOf(), [parts[0]!]),
      await receiveInbound(depsOf(), [parts[1]!]),
      await receiveInbound(depsOf(), [parts[2]!]),
      await receiveInbound(depsOf(), parts),
    ]
    expect(received.map(texts)).toEqual([[], [], ['one two three'], ['one two three']])
    expect(received[2]![0]!.held).toBe(true)
    expect([await countOf('inbound_parts'), await countOf('webhook_events')]).toEqual([0, 2])
  })

  test.each(['udh8', 'udh16', 'sar'] as const)('of kind %s', async (kind) => {
    expect(texts(await receiveInbound(depsOf(), three({ kind, reference: 200 })))).toEqual(['one two three'])
  })

  test('as PDUs carry them: 8-bit and 16-bit headers and SAR TLVs with one reference are three messages', async () => {
    const pdus = [1, 2].flatMap((sequence) => [
      {
        esmClass: UDHI,
        shortMessage: header(`\x05\0\x03\x09\x02${char(sequence)}`, `8bit${sequence} `),
        tlvs: {},
      },
      {
        esmClass: UDHI,
        shortMessage: header(`\x06\x08\x04\0\x09\x02${char(sequence)}`, `16bit${sequence} `),
        tlvs: {},
      },
      {
        esmClass: 0,
        shortMessage: Buffer.from(`sar${sequence} `),
        tlvs: { sar_msg_ref_num: 9, sar_total_segments: 2, sar_segment_seqnum: sequence },
      },
    ])
    const segments = pdus.map((pdu) => single('', parseUserData(pdu)))
    expect(texts(await receiveInbound(depsOf(), segments))).toEqual([
      '16bit1 16bit2 ',
      '8bit1 8bit2 ',
      'sar1 sar2 ',
    ])
  })

  test('a character split between two parts is whole again', async () => {
    const bytes = Buffer.from('Hi 👋!', 'utf16le').swap16()
    const parts = [bytes.subarray(0, 8), bytes.subarray(8)].map((payload, index) =>
      partOf('', index + 1, { total: 2 }, { payload, dataCoding: 8 }),
    )
    expect(texts(await receiveInbound(depsOf(), parts.toReversed()))).toEqual(['Hi 👋!'])
  })

  test('repeated parts change nothing, in one batch or later', async () => {
    const [one, two, last] = three() as [InboundSegment, InboundSegment, InboundSegment]
    expect(await receiveInbound(depsOf(), [one, one, two])).toEqual([])
    expect(await receiveInbound(depsOf(), [two, one])).toEqual([])
    expect(texts(await receiveInbound(depsOf(), [two, last, last, one]))).toEqual(['one two three'])
    expect(await countOf('inbound_parts')).toBe(0)
  })

  test('a set completed twice in a batch is two messages', async () => {
    const again = three().map((part) => ({ ...part, payload: Buffer.from(`${part.payload} again `) }))
    const received = await receiveInbound(depsOf(), [...three(), ...again])
    expect(texts(received)).toEqual(['one  again two  again three again ', 'one two three'])
    expect(await countOf('inbound_parts')).toBe(0)
  })

  test('a reference reused with another total is another message', async () => {
    await receiveInbound(depsOf(), [partOf('one ', 1), partOf('two ', 2)])
    const received = await receiveInbound(depsOf(), [
      partOf('a', 1, { total: 2 }),
      partOf('b', 2, { total: 2 }),
    ])
    expect(texts(received)).toEqual(['ab'])
    expect(texts(await receiveInbound(depsOf(), [partOf('three', 3)]))).toEqual(['one two three'])
  })

  describe('in national languages', () => {
    const turkish = { dataCoding: 0, language: { locking: null, single: 1 } }
    const two = { total: 2 }

    test('keeps the language of each part while it waits', async () => {
      const both = { dataCoding: 0, language: { locking: 6, single: 255 } }
      expect(await receiveInbound(depsOf(), [partOf('\x15\x1b<', 2, two, both)])).toEqual([])
      expect((await fresh.db.query('select locking_shift, single_shift from inbound_parts')).rows).toEqual([
        { locking_shift: 6, single_shift: 255 },
      ])
      expect(texts(await receiveInbound(depsOf(), [partOf('ya\x1bs ', 1, two, turkish)]))).toEqual(['yaş क['])
    })

    test('keeps none where the part names none', async () => {
      await receiveInbound(depsOf(), [partOf('one', 1)])
      expect((await fresh.db.query('select locking_shift, single_shift from inbound_parts')).rows).toEqual([
        { locking_shift: null, single_shift: null },
      ])
    })

    test('an escape sequence split between two parts is whole again', async () => {
      await receiveInbound(depsOf(), [partOf('sik', 2, two, turkish)])
      expect(texts(await receiveInbound(depsOf(), [partOf('e\x1b', 1, two, turkish)]))).toEqual(['eşik'])
    })

    test('the same octets in another language are another message, in one batch or later', async () => {
      const spanish = { dataCoding: 0, language: { locking: null, single: 2 } }
      const first = (language: Partial<InboundSegment>) => partOf('\x1bc1', 1, two, language)
      expect(texts(await receiveInbound(depsOf(), [first(turkish), first(spanish)]))).toEqual(['ç1'])
      expect(texts(await receiveInbound(depsOf(), [first(turkish)]))).toEqual(['c1'])
      expect(await countOf('inbound_parts')).toBe(1)
    })
  })

  test('a reference reused before the earlier message is whole: that one comes as it stands, none is mixed', async () => {
    expect(await receiveInbound(depsOf(), [partOf('old ', 1), partOf('older ', 3)])).toEqual([])
    const received = await receiveInbound(depsOf(), [partOf('one ', 1), partOf('two ', 2)])
    expect(texts(received)).toEqual(['old older '])
    expect(texts(await receiveInbound(depsOf(), [partOf('three', 3)]))).toEqual(['one two three'])
  })

  test.each<[string, Partial<InboundSegment>]>([
    ['carrier', { carrierId: 2 }],
    ['sender', { sender: '+491709999999' }],
    ['recipient', { recipient: '12345' }],
  ])('parts with another %s do not belong to it', async (_name, other) => {
    await receiveInbound(depsOf(), [partOf('one ', 1), partOf('two ', 2)])
    expect(await receiveInbound(depsOf(), [partOf('three', 3, {}, other)])).toEqual([])
    expect(await countOf('inbound_parts')).toBe(3)
  })

  test('to nobody is kept whole, apart', async () => {
    const lost = three().map((part) => ({ ...part, recipient: '+15550001111' }))
    expect(await receiveInbound(depsOf(), lost)).toEqual([])
    expect((await fresh.db.query('select body from unowned_inbound_messages')).rows).toEqual([
      { body: 'one two three' },
    ])
  })

  test('a sender keeps 1,000 parts: beyond, its oldest incomplete messages come as they stand', async () => {
    const flood = Array.from({ length: 1_010 }, (_, index) =>
      partOf(
        `${index}.`,
        1,
        { kind: 'udh16', reference: index, total: 2 },
        { receivedAtMs: Date.now() + index },
      ),
    )
    const bystander = partOf('kept', 1, {}, { sender: '+491702222222' })
    const received = await receiveInbound(depsOf(), [bystander, ...flood])
    expect(texts(received)).toEqual(Array.from({ length: 10 }, (_, index) => `${index}.`))
    expect(await countOf('inbound_parts')).toBe(1_001)
  })

  test('nothing of a batch is kept when it fails', async () => {
    const deps = depsOf(fresh.db, { newMessageId: () => newId(NOW_MS + 365 * 86_400_000) })
    await expect(receiveInbound(deps, [...three(), partOf('x', 1, { reference: 9 })])).rejects.toThrow(
      /partition/,
    )
    expect([await countOf('inbound_parts'), await countOf('inbound_messages')]).toEqual([0, 0])
  })
})

describe('several nodes', () => {
  test('parts survive the end of the process that took them', async () => {
    {
      await using node = otherPool(fresh.connectionString)
      await receiveInbound(depsOf(node.db), [partOf('one ', 1), partOf('three', 3)])
    }
    await using successor = otherPool(fresh.connectionString)
    expect(texts(await receiveInbound(depsOf(successor.db), [partOf('two ', 2)]))).toEqual(['one two three'])
  })

  test('parts over two nodes at once: every message comes, once', async () => {
    await using one = otherPool(fresh.connectionString)
    await using other = otherPool(fresh.connectionString)
    const messages = Array.from({ length: 40 }, (_, reference) => three({ reference }))
    const batches = [0, 1, 2].map((index) => messages.map((parts) => parts[index]!))
    await Promise.all([
      receiveInbound(depsOf(one.db), batches[0]!),
      receiveInbound(depsOf(other.db), batches[1]!.toReversed()),
      receiveInbound(depsOf(one.db), batches[2]!.toReversed()),
      receiveInbound(depsOf(other.db), batches[2]!),
    ])
    await Promise.all([deliverCompleteSets(depsOf(one.db)), deliverCompleteSets(depsOf(other.db))])
    expect((await storedTexts()).filter((text) => text === 'one two three')).toHaveLength(40)
  })

  test('a set completed by two nodes unseen by each other is found, by one of two sweeps', async () => {
    await using other = otherPool(fresh.connectionString)
    const [first, second] = ['a', 'b'].map((text, index) => stored(partOf(text, index + 1, { total: 2 })))
    const sender = [{ carrier_id: 1, sender: SENDER }]
    await withTransaction(fresh.db, async (here) => {
      await insertInboundParts(here, [first!])
      await withTransaction(other.db, async (there) => {
        await insertInboundParts(there, [second!])
        expect(await takeFinishedSets(there, sender, 1_000)).toEqual([])
        expect(await takeFinishedSets(here, sender, 1_000)).toEqual([])
      })
    })
    const swept = await Promise.all([deliverCompleteSets(depsOf()), deliverCompleteSets(depsOf(other.db))])
    expect(texts(swept.flat())).toEqual(['ab'])
    expect([await storedTexts(), await countOf('inbound_parts')]).toEqual([['ab'], 0])
  })
})

describe('incomplete messages', () => {
  const old = { receivedAtMs: Date.now() - 31 * MINUTE_MS }

  test('come as they stand after 30 minutes, in sequence, gaps skipped; younger ones wait', async () => {
    await receiveInbound(depsOf(), [
      partOf('three', 3, {}, old),
      partOf('one ', 1),
      partOf('young', 1, { reference: 43 }, { receivedAtMs: Date.now() - 29 * MINUTE_MS }),
    ])
    expect(texts(await deliverIncompleteSets(depsOf()))).toEqual(['one three'])
    expect(await deliverIncompleteSets(depsOf())).toEqual([])
    expect([await storedTexts(), await countOf('webhook_events')]).toEqual([['one three'], 1])
  })

  test('come once when several nodes look at once', async () => {
    await using other = otherPool(fresh.connectionString)
    const parts = Array.from({ length: 60 }, (_, reference) => partOf(`${reference}`, 1, { reference }, old))
    await receiveInbound(depsOf(), parts)
    await Promise.all([fresh.db, other.db, fresh.db].map((db) => deliverIncompleteSets(depsOf(db))))
    expect(await storedTexts()).toEqual(parts.map(({ payload }) => payload.toString()).sort())
  })

  test('after an age of the caller’s choice; many in several transactions', async () => {
    const parts = Array.from({ length: 700 }, (_, reference) =>
      partOf('x', 1, { reference, kind: 'udh16' }, { receivedAtMs: Date.now() - 2_000 }),
    )
    await receiveInbound(depsOf(), parts)
    expect(await deliverIncompleteSets(depsOf(), 1_000)).toHaveLength(700)
    expect(await countOf('inbound_parts')).toBe(0)
  })

  test('to nobody are kept apart and counted', async () => {
    let unowned = 0
    await receiveInbound(depsOf(), [partOf('x', 1, {}, { ...old, recipient: '99999' })])
    const deps = depsOf(fresh.db, { onUnowned: (count) => (unowned += count) })
    expect([await deliverIncompleteSets(deps), unowned]).toEqual([[], 1])
  })
})

function header(octets: string, text: string): Buffer {
  return Buffer.from(octets + text, 'latin1')
}

function char(code: number): string {
  return String.fromCharCode(code)
}

function stored({ part, ...segment }: InboundSegment): InboundPart {
  return { ...segment, ...part! }
}
