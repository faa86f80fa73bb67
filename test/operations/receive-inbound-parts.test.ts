import { beforeEach, describe, expect, test } from 'vitest'
import { parseUserData, type SegmentNumber, UDHI } from '../../src/domain/text/concatenation.ts'
import {
  deliverCompleteSets,
  deliverIncompleteSets,
  type InboundDeps,
  type InboundSegment,
  receiveInbound,
} from '../../src/operations/receive-inbound.ts'
import { withTransaction } from '../../src/store/database.ts'
import { type InboundPart, insertInboundParts, takeFinishedSets } from '../../src/store/inbound-parts.ts'
import {
  inboundDeps,
  NOW_MS,
  partOf,
  SENDER,
  single,
  storedTexts,
  texts,
} from '../support/inbound-segments.ts'
import { installedDatabase, newId, otherPool } from '../support/installation.ts'
import { clearTables, countOf } from '../support/stored-messages.ts'

const { db, connectionString, directory } = await installedDatabase({ atMs: NOW_MS })

beforeEach(() =>
  clearTables(
    db,
    'inbound_messages',
    'inbound_parts',
    'unowned_inbound_messages',
    'events',
    'event_deliveries',
  ),
)

const depsOf = (given: Partial<InboundDeps> = {}) => inboundDeps({ db, directory, ...given })

const three = (given: Partial<SegmentNumber> = {}) =>
  ['one ', 'two ', 'three'].map((text, i) => partOf(text, i + 1, given))

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
    expect([await countOf(db, 'inbound_parts'), await countOf(db, 'event_deliveries')]).toEqual([0, 2])
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
    expect(await countOf(db, 'inbound_parts')).toBe(0)
  })

  test('a set completed twice in a batch is two messages', async () => {
    const again = three().map((part) => ({ ...part, payload: Buffer.from(`${part.payload} again `) }))
    const received = await receiveInbound(depsOf(), [...three(), ...again])
    expect(texts(received)).toEqual(['one  again two  again three again ', 'one two three'])
    expect(await countOf(db, 'inbound_parts')).toBe(0)
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
      expect((await db.query('select locking_shift, single_shift from inbound_parts')).rows).toEqual([
        { locking_shift: 6, single_shift: 255 },
      ])
      expect(texts(await receiveInbound(depsOf(), [partOf('ya\x1bs ', 1, two, turkish)]))).toEqual(['yaş क['])
    })

    test('keeps none where the part names none', async () => {
      await receiveInbound(depsOf(), [partOf('one', 1)])
      expect((await db.query('select locking_shift, single_shift from inbound_parts')).rows).toEqual([
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
      expect(await countOf(db, 'inbound_parts')).toBe(1)
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
    expect(await countOf(db, 'inbound_parts')).toBe(3)
  })

  test('to nobody is kept whole, apart', async () => {
    const lost = three().map((part) => ({ ...part, recipient: '+15550001111' }))
    expect(await receiveInbound(depsOf(), lost)).toEqual([])
    const kept = await db.query('select body, parts, parts_expected from unowned_inbound_messages')
    expect(kept.rows).toEqual([{ body: 'one two three', parts: 3, parts_expected: 3 }])
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
    expect(await countOf(db, 'inbound_parts')).toBe(1_001)
  })

  test('nothing of a batch is kept when it fails', async () => {
    const deps = depsOf({ newMessageId: () => newId(NOW_MS + 365 * 86_400_000) })
    await expect(receiveInbound(deps, [...three(), partOf('x', 1, { reference: 9 })])).rejects.toThrow(
      /partition/,
    )
    expect([await countOf(db, 'inbound_parts'), await countOf(db, 'inbound_messages')]).toEqual([0, 0])
  })
})

describe('several nodes', () => {
  test('parts survive the end of the process that took them', async () => {
    {
      await using node = otherPool(connectionString)
      await receiveInbound(depsOf({ db: node.db }), [partOf('one ', 1), partOf('three', 3)])
    }
    await using successor = otherPool(connectionString)
    expect(texts(await receiveInbound(depsOf({ db: successor.db }), [partOf('two ', 2)]))).toEqual([
      'one two three',
    ])
  })

  test('parts over two nodes at once: every message comes, once', async () => {
    await using one = otherPool(connectionString)
    await using other = otherPool(connectionString)
    const messages = Array.from({ length: 40 }, (_, reference) => three({ reference }))
    const batches = [0, 1, 2].map((index) => messages.map((parts) => parts[index]!))
    await Promise.all([
      receiveInbound(depsOf({ db: one.db }), batches[0]!),
      receiveInbound(depsOf({ db: other.db }), batches[1]!.toReversed()),
      receiveInbound(depsOf({ db: one.db }), batches[2]!.toReversed()),
      receiveInbound(depsOf({ db: other.db }), batches[2]!),
    ])
    await Promise.all([
      deliverCompleteSets(depsOf({ db: one.db })),
      deliverCompleteSets(depsOf({ db: other.db })),
    ])
    expect((await storedTexts(db)).filter((text) => text === 'one two three')).toHaveLength(40)
  })

  test('a set completed by two nodes unseen by each other is found, by one of two sweeps', async () => {
    await using other = otherPool(connectionString)
    const [first, second] = ['a', 'b'].map((text, index) => stored(partOf(text, index + 1, { total: 2 })))
    const sender = [{ carrierId: 1, sender: SENDER }]
    await withTransaction(db, async (here) => {
      await insertInboundParts(here, [first!])
      await withTransaction(other.db, async (there) => {
        await insertInboundParts(there, [second!])
        expect(await takeFinishedSets(there, sender, 1_000)).toEqual([])
        expect(await takeFinishedSets(here, sender, 1_000)).toEqual([])
      })
    })
    const swept = await Promise.all([
      deliverCompleteSets(depsOf()),
      deliverCompleteSets(depsOf({ db: other.db })),
    ])
    expect(texts(swept.flat())).toEqual(['ab'])
    expect([await storedTexts(db), await countOf(db, 'inbound_parts')]).toEqual([['ab'], 0])
  })
})

describe('incomplete messages', () => {
  const old = { receivedAtMs: Date.now() - 31 * 60_000 }

  test('come as they stand after 30 minutes, in sequence, gaps skipped; younger ones wait', async () => {
    await receiveInbound(depsOf(), [
      partOf('three', 3, {}, old),
      partOf('one ', 1),
      partOf('young', 1, { reference: 43 }, { receivedAtMs: Date.now() - 29 * 60_000 }),
    ])
    expect(texts(await deliverIncompleteSets(depsOf()))).toEqual(['one three'])
    expect(await deliverIncompleteSets(depsOf())).toEqual([])
    expect([await storedTexts(db), await countOf(db, 'event_deliveries')]).toEqual([['one three'], 1])
    const { rows } = await db.query('select parts, parts_expected from inbound_messages')
    expect(rows).toEqual([{ parts: 2, parts_expected: 3 }])
  })

  test('come once when several nodes look at once', async () => {
    await using other = otherPool(connectionString)
    const parts = Array.from({ length: 60 }, (_, reference) => partOf(`${reference}`, 1, { reference }, old))
    await receiveInbound(depsOf(), parts)
    await Promise.all([db, other.db, db].map((db) => deliverIncompleteSets(depsOf({ db }))))
    expect(await storedTexts(db)).toEqual(parts.map(({ payload }) => payload.toString()).sort())
  })

  test('after an age of the caller’s choice; many in several transactions', async () => {
    const parts = Array.from({ length: 700 }, (_, reference) =>
      partOf('x', 1, { reference, kind: 'udh16' }, { receivedAtMs: Date.now() - 2_000 }),
    )
    await receiveInbound(depsOf(), parts)
    expect(await deliverIncompleteSets(depsOf(), 1_000)).toHaveLength(700)
    expect(await countOf(db, 'inbound_parts')).toBe(0)
  })

  test('to nobody are kept apart and counted', async () => {
    let unowned = 0
    await receiveInbound(depsOf(), [partOf('x', 1, {}, { ...old, recipient: '99999' })])
    const deps = depsOf({ onUnowned: (count) => (unowned += count) })
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
