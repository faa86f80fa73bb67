import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEntry, encodeEntry } from '../../../src/domain/journal/entries.ts'
import type { JournalFact } from '../../../src/domain/journal/message-facts.ts'
import { MESSAGE_STATUSES } from '../../../src/domain/messages/messages.ts'

type FactOf<K extends JournalFact['fact']['kind']> = Extract<JournalFact['fact'], { kind: K }>

const atMs = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const id = fc.integer({ min: 0, max: 2 ** 31 })
const bits = fc.bigInt({ min: 0n, max: 2n ** 255n })
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const charge = orNull(fc.record({ price: text, ptf: text, currency: text }))
const outcome = fc.constantFrom('DELIVERED' as const, 'FAILED' as const, 'UNKNOWN' as const)

const evidence = fc.record({
  carrierId: id,
  carrierMessageId: text,
  receivedAt: text,
  matchedAtMs: fc.constant(null),
  outcome: fc.constantFrom('DELIVERED' as const, 'FAILED' as const, 'UNKNOWN' as const, 'SENT' as const),
  errorCode: text,
  kept: orNull(fc.record({ text, tlvs: fc.constantFrom({}, { message_state: '2' }) })),
})

const kindOf = <const K extends JournalFact['fact']['kind']>(kind: K) => fc.constant(kind)

const accepted = {
  planId: id,
  sender: text,
  recipient: text,
  body: fc.string({ unit: 'grapheme', maxLength: 2_000 }),
  segments: id,
  country: orNull(text),
  callbackUrl: orNull(text),
  optedOut: fc.boolean(),
  discardsText: fc.boolean(),
  begun: fc.boolean(),
  routeId: id,
  expiresAtMs: atMs,
}

const submission = fc.record({
  failedAttempts: id,
  carrierId: orNull(id),
  acceptedPduBits: bits,
  segmentation: orNull(text),
  startedOver: fc.boolean(),
  ambiguous: fc.boolean(),
  begun: fc.boolean(),
  dueAtMs: atMs,
  routeId: id,
  chosenCarrierId: id,
})

const state = fc.record({
  status: fc.constantFrom(...MESSAGE_STATUSES),
  sequence: id,
  changedAtMs: atMs,
  sentAtMs: orNull(atMs),
  errorCode: text,
  carrierCode: orNull(text),
  carrierId: orNull(id),
  routeId: orNull(id),
  routeReason: orNull(text),
  segments: id,
  segmentation: orNull(text),
  deliveredBits: bits,
  unknownBits: bits,
  mccmnc: orNull(text),
  charge,
  dispatch: orNull(submission),
})

const FACTS: { readonly [K in JournalFact['fact']['kind']]: fc.Arbitrary<FactOf<K>> } = {
  accepted: fc.record({ kind: kindOf('accepted'), ...accepted }),
  loaded: fc.record({
    kind: kindOf('loaded'),
    accepted: fc.record(accepted),
    state,
    hasWaitingEvents: fc.boolean(),
  }),
  begun: fc.record({ kind: kindOf('begun'), atMs }),
  'pdus-accepted': fc.record({
    kind: kindOf('pdus-accepted'),
    atMs,
    pduBits: bits,
    segmentation: text,
  }),
  'started-over': fc.record({ kind: kindOf('started-over'), atMs, segmentation: text }),
  postponed: fc.record({
    kind: kindOf('postponed'),
    atMs,
    dueAtMs: atMs,
    failedAttempts: id,
    carrierId: orNull(id),
    acceptedPduBits: bits,
    segmentation: orNull(text),
    startedOver: fc.boolean(),
    ambiguous: fc.boolean(),
    routeId: orNull(id),
    chosenCarrierId: id,
  }),
  orphaned: fc.record({ kind: kindOf('orphaned'), atMs, ambiguityWaitMs: id }),
  settled: fc.record({
    kind: kindOf('settled'),
    atMs,
    status: fc.constantFrom('SENT' as const, 'FAILED' as const, 'UNKNOWN' as const),
    errorCode: text,
    carrierCode: orNull(text),
    carrierId: orNull(id),
    routeId: orNull(id),
    routeReason: orNull(text),
    segments: orNull(id),
    segmentation: orNull(text),
    mccmnc: orNull(text),
    charge,
  }),
  receipt: fc.record({
    kind: kindOf('receipt'),
    atMs,
    outcome,
    segmentBits: bits,
    segmentation: orNull(text),
    errorCode: text,
    carrierCode: orNull(text),
    mccmnc: orNull(text),
    segmentCharge: charge,
    evidence,
  }),
  overdue: fc.record({ kind: kindOf('overdue'), atMs, errorCode: text }),
  submitted: fc.record({
    kind: kindOf('submitted'),
    atMs,
    latencyMs: id,
    carrierId: id,
    carrierMessageId: text,
    segment: id,
    segmentation: orNull(text),
  }),
  attempted: fc.record({
    kind: kindOf('attempted'),
    atMs,
    tookMs: id,
    carrierId: orNull(id),
    outcome: fc.constantFrom('accepted' as const, 'refused' as const, 'retry' as const, 'no-answer' as const),
    commandStatus: orNull(id),
    segment: orNull(id),
    resubmission: fc.boolean(),
    reason: orNull(text),
  }),
  noted: fc.record({ kind: kindOf('noted'), evidence }),
  'event-taken': fc.record({
    kind: kindOf('event-taken'),
    sequence: id,
    attemptedAtMs: atMs,
    latencyMs: id,
    responseStatus: orNull(id),
    responseHead: orNull(text),
    destination: orNull(text),
  }),
}

const facts = fc.array(
  fc.record({ msgId: fc.uuid(), fact: fc.oneof(...Object.values(FACTS)) }) as fc.Arbitrary<JournalFact>,
  { maxLength: 20 },
)

test('facts are read as they were written', () => {
  fc.assert(
    fc.property(facts, (written) => {
      expect(decodeEntry(encodeEntry(written))).toEqual(written)
    }),
  )
})

test('an entry that is cut short, or longer, is refused', () => {
  fc.assert(
    fc.property(facts, fc.nat(), (written, place) => {
      const entry = encodeEntry(written)
      expect(() => decodeEntry(entry.subarray(0, place % entry.length))).toThrow(RangeError)
      expect(() => decodeEntry(Buffer.concat([entry, Buffer.of(0)]))).toThrow(RangeError)
    }),
  )
})

test('octets that nobody wrote are refused, or read as some facts', () => {
  const damaged = fc
    .tuple(facts, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 }))
    .map(([written, changes]) => {
      const entry = Buffer.from(encodeEntry(written))
      for (const [place, octet] of changes) entry[place % entry.length] = octet
      return entry
    })
  fc.assert(
    fc.property(damaged, (entry) => {
      try {
        expect(Array.isArray(decodeEntry(entry))).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('an entry of many facts is compressed', () => {
  const like = Array.from({ length: 100 }, (_, atMs): JournalFact => {
    return {
      msgId: '01a202e8-ed61-759b-9657-ea4a89c8b260',
      fact: { kind: 'overdue', atMs, errorCode: '601' },
    }
  })
  const entry = encodeEntry(like)
  expect(entry.length).toBeLessThan((like.length * encodeEntry(like.slice(0, 1)).length) / 4)
  expect(decodeEntry(entry)).toEqual(like)
})

test('an entry of a later format, or with a fact of a later kind, is refused by its number', () => {
  const msgId = '01a202e8-ed61-759b-9657-ea4a89c8b260'
  const entry = encodeEntry([{ msgId, fact: { kind: 'begun', atMs: 1 } }])
  const changed = (octet: number, value: number) => Buffer.from(entry).fill(value, octet, octet + 1)
  expect(() => decodeEntry(changed(0, 3))).toThrow('a journal entry has format 3, which is not known')
  expect(() => decodeEntry(changed(2, 99))).toThrow('a journal entry has a fact of kind 99')
})
