import { describe, expect, it } from 'vitest'
import { latenciesOf } from '../../bench/end-to-end.ts'
import {
  type CarrierEntry,
  type LoadEntry,
  ledgerLine,
  parseCarrierLedger,
  parseLoadLedger,
  parseReceiverLedger,
  type ReceiverEntry,
} from '../../bench/tools/ledgers.ts'
import type { CarrierStats, ReceiverReport } from '../../bench/tools/tools.ts'
import { arrivalFaults, carrierFaults, receiverFaults } from '../../bench/totals.ts'

/** Two messages that went the whole way; times in microseconds. */
const LOAD: readonly LoadEntry[] = [
  { number: 0, dueUs: 1_000, latencyUs: 2_000, status: 202, msgId: 'a' },
  { number: 1, dueUs: 2_000, latencyUs: 4_000, status: 202, msgId: 'b' },
]
const RECEIVER: readonly ReceiverEntry[] = [
  { number: 0, sent: 1, delivered: 1, sentUs: 4_000, deliveredUs: 11_000, msgId: 'a' },
  { number: 1, sent: 1, delivered: 1, sentUs: 5_000, deliveredUs: 22_000, msgId: 'b' },
]
const CARRIER: readonly CarrierEntry[] = [
  { number: 0, submits: 1, submittedUs: 3_500, receiptUs: 6_000, acknowledgedUs: 7_000 },
  { number: 1, submits: 1, submittedUs: 4_500, receiptUs: 7_000, acknowledgedUs: 8_000 },
]
const REPORT: ReceiverReport = {
  completed: 2,
  webhooks: 4,
  repeated: 0,
  disordered: 0,
  unexpected: 0,
  connections: 1,
  firstAtMs: 4,
  lastAtMs: 22,
}
const STATS: CarrierStats = {
  accepted: 2,
  throttled: 0,
  receiptsSent: 2,
  receiptsAcknowledged: 2,
  receiptsRefused: 0,
  receiptsWaiting: 0,
  binds: 1,
}

/** The entries with changes to the second one. */
function changed<Entry>(entries: readonly Entry[], change: Partial<Entry>): Entry[] {
  return [entries[0]!, { ...entries[1]!, ...change }]
}

it('an exact run has no fault', () => {
  expect(arrivalFaults(LOAD, RECEIVER)).toEqual([])
  expect(receiverFaults(REPORT, true)).toEqual([])
  expect(carrierFaults(LOAD, CARRIER, STATS)).toEqual([])
})

describe('every difference is named', () => {
  const arrivals: [string, readonly LoadEntry[], readonly ReceiverEntry[], string[]][] = [
    ['nothing was accepted', [], [], ['1 runs had no accepted message']],
    [
      'a request was refused',
      changed(LOAD, { status: 500, msgId: null }),
      [RECEIVER[0]!],
      ['1 requests were not accepted'],
    ],
    [
      'a request was never answered',
      changed(LOAD, { status: 0, msgId: null }),
      [RECEIVER[0]!],
      ['1 requests were not accepted'],
    ],
    ['no webhook came for a message', LOAD, [RECEIVER[0]!], ['1 accepted messages lack a webhook']],
    ['only one came', LOAD, changed(RECEIVER, { delivered: 0 }), ['1 accepted messages lack a webhook']],
    ['one came twice', LOAD, changed(RECEIVER, { sent: 2 }), ['1 messages had a webhook more than once']],
    [
      'one came for a message that was not accepted',
      LOAD.slice(0, 1),
      RECEIVER,
      ['1 other messages had webhooks'],
    ],
    [
      'a webhook names another message',
      LOAD,
      changed(RECEIVER, { msgId: 'c' }),
      ['1 messages had webhooks with the msgId of another'],
    ],
    [
      'two messages have one msgId',
      changed(LOAD, { msgId: 'a' }),
      changed(RECEIVER, { msgId: 'a' }),
      ['1 msgIds were given twice'],
    ],
  ]
  it.each(arrivals)('%s', (_, load, receiver, faults) => {
    expect(arrivalFaults(load, receiver)).toEqual(faults)
  })

  const carriers: [string, readonly CarrierEntry[], CarrierStats, string[]][] = [
    ['a message was not submitted', [CARRIER[0]!], STATS, ['1 accepted messages were not submitted']],
    [
      'a message was submitted twice',
      changed(CARRIER, { submits: 2 }),
      STATS,
      ['1 messages were submitted more than once'],
    ],
    [
      'another was submitted',
      [...CARRIER, { ...CARRIER[0]!, number: 7 }],
      STATS,
      ['1 other messages were submitted'],
    ],
    [
      'a receipt was not acknowledged',
      CARRIER,
      { ...STATS, receiptsAcknowledged: 1 },
      ['1 receipts were not acknowledged'],
    ],
    ['a receipt was refused', CARRIER, { ...STATS, receiptsRefused: 1 }, ['1 receipts were refused']],
    ['a receipt still waits', CARRIER, { ...STATS, receiptsWaiting: 1 }, ['1 receipts were not sent']],
  ]
  it.each(carriers)('%s', (_, carrier, stats, faults) => {
    expect(carrierFaults(LOAD, carrier, stats)).toEqual(faults)
  })

  it('the order of webhooks counts where it is promised', () => {
    const report = { ...REPORT, disordered: 3 }
    expect(receiverFaults(report, true)).toEqual(['3 messages had their webhooks in the wrong order'])
    expect(receiverFaults(report, false)).toEqual([])
    expect(receiverFaults({ ...REPORT, unexpected: 1 }, false)).toHaveLength(1)
  })
})

describe('latencies', () => {
  const ledgers = { load: LOAD, receiver: RECEIVER, carrier: CARRIER }

  it('are joined from the three ledgers, in milliseconds', () => {
    const { accept, acceptToDelivered, receiptToDelivered } = latenciesOf(ledgers, {
      fromUs: 0,
      toUs: 30_000,
    })
    expect(accept).toEqual({ count: 2, p50: 4, p99: 4, max: 4 })
    expect(acceptToDelivered).toEqual({ count: 2, p50: 20, p99: 20, max: 20 })
    expect(receiptToDelivered).toEqual({ count: 2, p50: 15, p99: 15, max: 15 })
  })

  it('count what ended within the span', () => {
    const { accept, acceptToDelivered } = latenciesOf(ledgers, { fromUs: 3_000, toUs: 6_000 })
    expect(accept).toMatchObject({ count: 1, max: 2 })
    expect(acceptToDelivered.count).toBe(0)
  })

  it('are not measured from receipts that a carrier cannot time', () => {
    const carrier = CARRIER.map((entry) => ({ ...entry, receiptUs: 0 }))
    const span = { fromUs: 0, toUs: 30_000 }
    expect(latenciesOf({ ...ledgers, carrier }, span).receiptToDelivered).toBeNull()
  })
})

describe('a ledger', () => {
  it('is read back as it was written', () => {
    const text = LOAD.map((entry) => ledgerLine(Object.values(entry))).join('')
    expect(parseLoadLedger(text)).toEqual(LOAD)
    const arrivals = RECEIVER.map((entry) => ledgerLine(Object.values(entry))).join('')
    expect(parseReceiverLedger(arrivals)).toEqual(RECEIVER)
    expect(parseCarrierLedger(CARRIER.map((entry) => ledgerLine(Object.values(entry))).join(''))).toEqual(
      CARRIER,
    )
    expect(parseLoadLedger('5 0 0 0 -\n')[0]!.msgId).toBeNull()
    expect(parseLoadLedger('')).toEqual([])
  })

  it('does not count when it is cut off', () => {
    expect(() => parseLoadLedger('0 1000 2000 202 a\n1 2000')).toThrow('cut off')
    expect(() => parseLoadLedger('0 1000 2000 202 a\n1 2000\n')).toThrow('2 fields')
  })
})
