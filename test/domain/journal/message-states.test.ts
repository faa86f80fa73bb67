import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  DispatchState,
  MessageState,
  Postponed,
  ReceiptFact,
  Settled,
  StateFact,
} from '../../../src/domain/journal/message-facts.ts'
import { acceptedState, applyFact } from '../../../src/domain/journal/message-states.ts'
import {
  MESSAGE_STATUSES,
  type Status,
  UNKNOWN_REVERSIBLE_MS,
} from '../../../src/domain/messages/messages.ts'

/** What the statements decide is compared with this rule in test/store/messages-at-rest.test.ts. */

const AT_MS = Date.UTC(2026, 0, 1)
const EUR = { price: '0.02', ptf: '0.004', currency: 'EUR' }

function settled(status: Settled['status'], change: Partial<Settled> = {}): Settled {
  return {
    kind: 'settled',
    atMs: AT_MS,
    status,
    errorCode: status === 'SENT' ? '000' : '103',
    carrierCode: null,
    carrierId: 1,
    routeId: 1,
    routeReason: 'only carrier',
    segments: null,
    segmentation: null,
    mccmnc: null,
    charge: null,
    ...change,
  }
}

function receipt(outcome: ReceiptFact['outcome'], change: Partial<ReceiptFact> = {}): ReceiptFact {
  return {
    kind: 'receipt',
    atMs: AT_MS,
    outcome,
    segmentBits: 1n,
    segmentation: null,
    errorCode: '300',
    carrierCode: outcome,
    mccmnc: null,
    segmentCharge: null,
    ...change,
  }
}

const OVERDUE: StateFact = { kind: 'overdue', atMs: AT_MS, errorCode: '601' }

function messageAfter(segments: number, ...facts: readonly StateFact[]): MessageState {
  return facts.reduce(applyFact, acceptedState(segments, AT_MS))
}

/** A message of one segment in each status. */
const IN_STATUS: Readonly<Record<Status, MessageState>> = {
  QUEUED: messageAfter(1),
  SENT: messageAfter(1, settled('SENT')),
  DELIVERED: messageAfter(1, settled('SENT'), receipt('DELIVERED')),
  FAILED: messageAfter(1, settled('FAILED')),
  UNKNOWN: messageAfter(1, settled('SENT'), receipt('UNKNOWN')),
}

/** The columns of the table in the documents. */
const COLUMNS: Readonly<Record<string, StateFact>> = {
  'accepted by a carrier': settled('SENT'),
  'refused for good': settled('FAILED'),
  'in doubt': settled('UNKNOWN'),
  'receipt: delivered': receipt('DELIVERED'),
  'receipt: failed': receipt('FAILED'),
  'receipt: unknown': receipt('UNKNOWN'),
  overdue: OVERDUE,
}

describe('the documents', () => {
  const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')

  test('ARCHITECTURE.md has the table of the rule', () => {
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
    const rows = MESSAGE_STATUSES.map((status) => {
      const next = Object.values(COLUMNS).map((fact) => applyFact(IN_STATUS[status], fact).status)
      return line([status, ...next.map((each) => (each === status ? '–' : each))])
    })
    const header = ['status', ...Object.keys(COLUMNS)]
    expect(read('ARCHITECTURE.md')).toContain(
      [line(header), line(header.map(() => '---')), ...rows].join('\n'),
    )
  })

  test('the diagram of message-states.md has the changes of the rule, and no others', () => {
    const doc = read('message-states.md')
    for (const status of MESSAGE_STATUSES) {
      const targets = new Set(Object.values(COLUMNS).map((fact) => applyFact(IN_STATUS[status], fact).status))
      for (const target of MESSAGE_STATUSES)
        expect(doc.includes(`${status} --> ${target}`)).toBe(target !== status && targets.has(target))
    }
  })
})

describe('a status', () => {
  const anyFact = fc.constantFrom<StateFact>(
    ...Object.values(COLUMNS),
    receipt('DELIVERED', { segmentBits: 2n }),
    receipt('FAILED', { segmentBits: 2n }),
    receipt('UNKNOWN', { segmentBits: 2n }),
    { kind: 'begun', atMs: AT_MS },
    { kind: 'pdus-accepted', atMs: AT_MS, pduBits: 1n, segmentation: 'udh' },
    { kind: 'started-over', atMs: AT_MS, segmentation: 'tlv' },
    { kind: 'orphaned', atMs: AT_MS, ambiguityWaitMs: 120_000 },
  )
  const RANK: Readonly<Record<Status, number>> = { QUEUED: 0, SENT: 1, UNKNOWN: 2, DELIVERED: 3, FAILED: 3 }

  test('never moves back, and is announced once for each change', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 20 }), fc.integer({ min: 1, max: 2 }), (facts, segments) => {
        let message = acceptedState(segments, AT_MS)
        for (const fact of facts) {
          const next = applyFact(message, fact)
          const changes = next.status !== message.status
          expect(next.sequence - message.sequence).toBe(changes ? 1 : 0)
          if (changes) expect(RANK[next.status]).toBeGreaterThan(RANK[message.status])
          message = next
        }
      }),
    )
  })

  test('is the same when a fact is told again', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { minLength: 1, maxLength: 20 }), (facts) => {
        const message = messageAfter(2, ...facts)
        const { status, sequence } = applyFact(message, facts.at(-1)!)
        expect([status, sequence]).toEqual([message.status, message.sequence])
      }),
    )
  })

  test('UNKNOWN gives way for 72 h, not longer', () => {
    const inMs = (ms: number) =>
      applyFact(IN_STATUS.UNKNOWN, receipt('DELIVERED', { atMs: AT_MS + ms })).status
    expect(inMs(UNKNOWN_REVERSIBLE_MS - 1)).toBe('DELIVERED')
    expect(inMs(UNKNOWN_REVERSIBLE_MS)).toBe('UNKNOWN')
  })
})

describe('several segments', () => {
  const [first, second] = [1n, 2n]
  const twoReceipts = (one: ReceiptFact['outcome'], other: ReceiptFact['outcome']) =>
    messageAfter(
      2,
      settled('SENT'),
      receipt(one, { segmentBits: first }),
      receipt(other, { segmentBits: second }),
    ).status

  test.each([
    ['DELIVERED', 'DELIVERED', 'DELIVERED'],
    ['DELIVERED', 'FAILED', 'FAILED'],
    ['UNKNOWN', 'FAILED', 'FAILED'],
    ['DELIVERED', 'UNKNOWN', 'UNKNOWN'],
    ['UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
  ] as const)('%s and %s: %s, in either order', (one, other, status) => {
    expect(twoReceipts(one, other)).toBe(status)
    expect(twoReceipts(other, one)).toBe(status)
  })

  test('one receipt of two leaves the message SENT', () => {
    expect(messageAfter(2, settled('SENT'), receipt('DELIVERED')).status).toBe('SENT')
    expect(messageAfter(2, settled('SENT'), receipt('UNKNOWN')).status).toBe('SENT')
  })

  test('a segment that was delivered fails no more', () => {
    expect(messageAfter(2, settled('SENT'), receipt('DELIVERED'), receipt('FAILED')).status).toBe('SENT')
  })

  test('are DELIVERED with the last answer where their receipts came first', () => {
    const message = messageAfter(
      2,
      receipt('DELIVERED', { segmentBits: first }),
      receipt('DELIVERED', { segmentBits: second }),
    )
    expect(message.status).toBe('QUEUED')
    expect(applyFact(message, settled('SENT'))).toMatchObject({
      status: 'DELIVERED',
      sequence: 1,
      errorCode: '000',
    })
  })

  test('divided otherwise count from the first of them that a carrier took', () => {
    const segmentation = 'tlv gsm7 2'
    const message = messageAfter(
      2,
      receipt('DELIVERED', { segmentBits: 3n }),
      { kind: 'started-over', atMs: AT_MS, segmentation },
      settled('SENT', { segments: 2, segmentation }),
    )
    expect(message).toMatchObject({ status: 'SENT', deliveredBits: 0n, segmentation })
    expect(applyFact(message, receipt('DELIVERED', { segmentBits: 3n })).status).toBe('SENT')
    expect(applyFact(message, receipt('DELIVERED', { segmentBits: 3n, segmentation })).status).toBe(
      'DELIVERED',
    )
  })
})

describe('what a message costs', () => {
  test('is what its settlement says', () => {
    expect(messageAfter(2, settled('SENT', { charge: EUR })).charge).toEqual(EUR)
  })

  test('is that of the network which its receipt names, for all its segments', () => {
    expect(
      messageAfter(3, settled('SENT', { charge: EUR }), receipt('DELIVERED', { segmentCharge: EUR })).charge,
    ).toEqual({
      price: '0.06',
      ptf: '0.012',
      currency: 'EUR',
    })
  })

  test('is that of the receipt still when the answer comes later, for the segments that went out', () => {
    const message = messageAfter(
      2,
      receipt('DELIVERED', { segmentCharge: EUR }),
      settled('SENT', { segments: 3 }),
    )
    expect(message.charge).toEqual({ price: '0.06', ptf: '0.012', currency: 'EUR' })
  })

  test('goes when it fails after all', () => {
    expect(messageAfter(2, receipt('DELIVERED', { segmentCharge: EUR }), settled('FAILED')).charge).toBeNull()
  })
})

describe('the submission', () => {
  const postponed: Postponed = {
    kind: 'postponed',
    routeId: null,
    chosenCarrierId: 0,
    atMs: AT_MS,
    dueAtMs: AT_MS + 5_000,
    failedAttempts: 1,
    carrierId: 2,
    acceptedPduBits: 1n,
    segmentation: 'udh gsm7 2',
    startedOver: false,
    ambiguous: false,
  }
  const orphaned: StateFact = { kind: 'orphaned', atMs: AT_MS, ambiguityWaitMs: 120_000 }
  const submissionAfter = (...facts: readonly StateFact[]): DispatchState | null =>
    messageAfter(2, ...facts).dispatch

  test.each(['SENT', 'FAILED', 'UNKNOWN'] as const)('ends with %s, and no fact opens it again', (status) => {
    expect(submissionAfter(settled(status))).toBeNull()
    expect(submissionAfter(settled(status), postponed, orphaned, { kind: 'begun', atMs: AT_MS })).toBeNull()
  })

  test('that a dead node had begun is in doubt, and waits for news', () => {
    const begun: StateFact = { kind: 'begun', atMs: AT_MS }
    expect(submissionAfter(begun, orphaned)).toMatchObject({
      ambiguous: true,
      begun: false,
      dueAtMs: AT_MS + 120_000,
    })
    expect(submissionAfter(begun, postponed, orphaned)).toMatchObject({ ambiguous: false })
  })

  test('that a dead node merely held is due at once, and in no doubt', () => {
    expect(submissionAfter(orphaned)).toMatchObject({ ambiguous: false, dueAtMs: AT_MS })
  })

  test('goes on after the parts that a carrier took, also late, unless they are divided otherwise', () => {
    const late = (segmentation: string): StateFact => ({
      kind: 'pdus-accepted',
      atMs: AT_MS,
      pduBits: 2n,
      segmentation,
    })
    expect(submissionAfter(postponed, late('udh gsm7 2'))).toMatchObject({
      acceptedPduBits: 3n,
      segmentation: 'udh gsm7 2',
    })
    expect(submissionAfter(postponed, late('tlv gsm7 2'))).toMatchObject({
      acceptedPduBits: 1n,
      segmentation: 'udh gsm7 2',
    })
    expect(submissionAfter(late('tlv gsm7 2'))).toMatchObject({
      acceptedPduBits: 2n,
      segmentation: 'tlv gsm7 2',
    })
  })
})
