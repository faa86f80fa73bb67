import { describe, expect, it } from 'vitest'
import { faultAt, judge } from './judge.ts'
import { unannouncedOf } from './judge-inbound.ts'
import { recordsOfCopies } from './judge-submits.ts'
import { timeToAccept, timeToTakeOver } from './judge-times.ts'
import { KINDS } from './kinds.ts'
import type { Answer, FaultEntry, FeedItem, Ledgers, LoadEntry, Submit, Webhook } from './ledgers.ts'
import { summarise } from './summary.ts'

const ID = 'message-0'

const answer = (more: Partial<Answer> = {}): Answer => ({
  node: 0,
  sentAtMs: 0,
  answeredAtMs: 10,
  status: 202,
  msgId: ID,
  failure: null,
  ...more,
})
const entry = (more: Partial<LoadEntry> = {}): LoadEntry => ({
  n: 0,
  plan: 0,
  segments: 1,
  hasKey: false,
  isPushed: true,
  answers: [answer()],
  ...more,
})
const submit = (more: Partial<Submit> = {}): Submit => ({
  n: 0,
  segment: 0,
  session: 0,
  atMs: 20,
  answeredAtMs: 21,
  state: 'DELIVRD',
  receiptAcknowledgedAtMs: 40,
  ...more,
})
const item = (sequence: number, status: string, more: Partial<FeedItem> = {}): FeedItem => ({
  plan: 0,
  eventId: `${ID}-${sequence}`,
  msgId: ID,
  sequence,
  status,
  k: null,
  digest: `digest ${sequence}`,
  atMs: 30 + 20 * sequence,
  ...more,
})
const webhook = (sequence: number, status: string, more: Partial<Webhook> = {}): Webhook => ({
  eventId: `${ID}-${sequence}`,
  msgId: ID,
  sequence,
  status,
  begunAtMs: 35 + 20 * sequence,
  digest: `digest ${sequence}`,
  answeredAtMs: 36 + 20 * sequence,
  isAccepted: true,
  ...more,
})
const fault = (more: Partial<FaultEntry> = {}): FaultEntry => ({
  kind: 'kill',
  node: 0,
  begunMs: more.startMs ?? 22,
  startMs: 22,
  endMs: 23,
  excuses: {},
  killedNode: null,
  nodes: [0],
  ...more,
})

/** One message that was sent and delivered, and one inbound message. */
const GOOD: Ledgers = {
  load: [entry()],
  submits: [submit()],
  sessions: [{ carrier: 'north', boundAtMs: 0, window: 1, endedAtMs: null, isOrderly: false }],
  inbound: [{ k: 0, offeredAtMs: 5, acknowledgedAtMs: 6 }],
  webhooks: [
    webhook(1, 'SENT'),
    webhook(2, 'DELIVERED'),
    webhook(0, 'x', { eventId: 'mo-0', msgId: 'mo', status: null }),
  ],
  feed: [
    item(1, 'SENT'),
    item(2, 'DELIVERED'),
    item(0, 'x', { eventId: 'mo-0', msgId: 'mo', status: null, k: 0 }),
  ],
  lookUps: [{ msgId: ID, node: 0, atMs: 12, atLeast: 'QUEUED', httpStatus: 200, status: 'SENT' }],
  record: {
    messages: [{ msgId: ID, plan: 0, n: 0, status: 'DELIVERED', errorCode: '000', segments: 1 }],
    inbound: [{ msgId: 'mo', k: 0 }],
    copies: [],
  },
  faults: [],
  plans: [{ keepsDoubtful: false }],
}
const rulesOf = (change: Partial<Ledgers>) => judge({ ...GOOD, ...change }).map(({ rule }) => rule)
const record = (change: Partial<Ledgers['record']>) => ({ record: { ...GOOD.record, ...change } })
const status = (value: string) => ({ ...GOOD.record.messages[0]!, status: value })
const mo = GOOD.webhooks[2]!

it('finds nothing where nothing is wrong', () => {
  expect(rulesOf({})).toEqual([])
})

describe('messages', () => {
  it.each<[string, Partial<Ledgers>, string[]]>([
    [
      'accepted and not recorded',
      { ...record({ messages: [] }), submits: [], webhooks: [mo], feed: [GOOD.feed[2]!] },
      ['lost'],
    ],
    [
      'recorded under another id',
      record({ messages: [{ ...status('DELIVERED'), msgId: 'other' }] }),
      ['lost', 'event-missing'],
    ],
    ['recorded twice', record({ messages: [status('DELIVERED'), status('DELIVERED')] }), ['recorded-twice']],
    [
      'one key, two messages',
      { load: [entry({ hasKey: true, answers: [answer(), answer({ msgId: 'other' })] })] },
      ['lost', 'key-answered-twice'],
    ],
    ['at the carrier without a record', { submits: [submit(), submit({ n: 7 })] }, ['unrecorded']],
    [
      'answered 5xx and sent',
      { load: [entry({ answers: [answer({ status: 503, msgId: null })] })] },
      ['sent-though-refused'],
    ],
    [
      'never final',
      {
        ...record({ messages: [status('SENT')] }),
        feed: [GOOD.feed[0]!, GOOD.feed[2]!],
        webhooks: [webhook(1, 'SENT'), mo],
      },
      ['unfinished'],
    ],
    [
      'FAILED against its receipt',
      record({ messages: [status('FAILED')] }),
      ['wrong-status', 'event-missing'],
    ],
    ['DELIVERED and never at a carrier', { submits: [] }, ['unsubmitted']],
    [
      'UNKNOWN and never at a carrier',
      { submits: [], ...record({ messages: [status('UNKNOWN')] }), plans: [{ keepsDoubtful: true }] },
      ['unknown-never-offered', 'event-missing'],
    ],
    [
      'looked up before it is there',
      { lookUps: [{ ...GOOD.lookUps[0]!, httpStatus: 404, status: null }] },
      ['stale-read'],
    ],
    [
      'looked up older than it was',
      { lookUps: [{ ...GOOD.lookUps[0]!, atLeast: 'DELIVERED' }] },
      ['stale-read'],
    ],
    [
      'its receipt was never taken',
      { submits: [submit({ receiptAcknowledgedAtMs: null })] },
      ['receipt-unacknowledged'],
    ],
  ])('%s', (_, change, rules) => {
    expect(rulesOf(change).toSorted()).toEqual(rules.toSorted())
  })

  it('a request without an answer may be recorded, or not', () => {
    const unanswered = [entry({ answers: [answer({ status: null, msgId: null, failure: 'reset' })] })]
    expect(rulesOf({ load: unanswered })).toEqual([])
    const nothing = { submits: [], webhooks: [mo], feed: [GOOD.feed[2]!], ...record({ messages: [] }) }
    expect(rulesOf({ load: unanswered, ...nothing })).toEqual([])
  })

  it.each([{ status: 500 }, { status: null, failure: 'reset' as const }])(
    'a request answered by %o may be recorded as FAILED, and is not announced',
    (end) => {
      const failed = { load: [entry({ answers: [answer(end)] })], submits: [] }
      const silent = { webhooks: [mo], feed: [GOOD.feed[2]!] }
      const withCode = (errorCode: string) => record({ messages: [{ ...status('FAILED'), errorCode }] })
      expect(rulesOf({ ...failed, ...silent, ...withCode('100') })).toEqual([])
      // Any other code comes from a carrier or from a message that was queued, so it is submitted and announced.
      expect(rulesOf({ ...failed, ...silent, ...withCode('300') }).toSorted()).toEqual([
        'event-missing',
        'wrong-status',
      ])
    },
  )

  it('UNKNOWN is right for what was lost on its way to the carrier', () => {
    const swallowed = {
      submits: [],
      feed: [item(1, 'UNKNOWN'), GOOD.feed[2]!],
      webhooks: [webhook(1, 'UNKNOWN'), mo],
      plans: [{ keepsDoubtful: true }],
      ...record({ messages: [status('UNKNOWN')] }),
    }
    expect(rulesOf(swallowed)).toEqual(['unknown-never-offered'])
    expect(rulesOf({ ...swallowed, faults: [fault({ excuses: { swallows: true } })] })).toEqual([])
    expect(
      rulesOf({
        ...swallowed,
        faults: [fault({ startMs: 40_000, endMs: 41_000, excuses: { swallows: true } })],
      }),
    ).toEqual(['unknown-never-offered'])
    // It had waited for that long.
    expect(
      rulesOf({
        ...swallowed,
        feed: [item(1, 'UNKNOWN', { atMs: 46_000 }), GOOD.feed[2]!],
        faults: [fault({ startMs: 40_000, endMs: 41_000, excuses: { swallows: true } })],
      }),
    ).toEqual([])
  })

  describe('UNKNOWN and never at a carrier, told so 50 s after it was accepted', () => {
    const waited: Ledgers = {
      ...GOOD,
      submits: [],
      feed: [item(1, 'UNKNOWN', { atMs: 50_000 }), GOOD.feed[2]!],
      webhooks: [webhook(1, 'UNKNOWN'), mo],
      plans: [{ keepsDoubtful: true }],
      ...record({ messages: [status('UNKNOWN')] }),
    }
    const findingsOf = (...faults: FaultEntry[]) =>
      summarise(
        { ledgers: { ...waited, faults }, accepted: 1, seconds: 60, isSettled: true },
        { nodes: 1, seed: 1, rate: 1 },
        { kinds: KINDS, areTimesJudged: false },
      ).findings.map(({ rule, kind, isKnown }) => [rule, kind, isKnown])
    const throttling = fault({ kind: 'carrier-throttling', startMs: 0, endMs: 7_000 })

    it('is known of a kill in between, for it may have waited in that node for so long', () => {
      const kill = fault({ startMs: 45_000, endMs: 46_000 })
      expect(findingsOf(throttling, kill)).toEqual([['unknown-never-offered', 'kill', true]])
    })

    it.each<[string, FaultEntry[], string]>([
      ['of a carrier that throttled alone', [throttling], 'none'],
      ['of a kill behind it', [throttling, fault({ startMs: 50_500, endMs: 51_000 })], 'kill'],
      ['of a kill long before', [fault({ startMs: -90_000, endMs: -80_000, nodes: [] })], 'none'],
    ])('is not known %s', (_, faults, kind) => {
      expect(findingsOf(...faults)).toEqual([['unknown-never-offered', kind, false]])
    })
  })

  it('UNKNOWN stays where the plan wants it so, and the carrier answered nothing', () => {
    const doubtful = {
      submits: [submit({ answeredAtMs: null })],
      feed: [item(1, 'UNKNOWN'), GOOD.feed[2]!],
      webhooks: [webhook(1, 'UNKNOWN'), mo],
      ...record({ messages: [status('UNKNOWN')] }),
    }
    expect(rulesOf({ ...doubtful, plans: [{ keepsDoubtful: true }] })).toEqual([])
    expect(rulesOf(doubtful)).toEqual(['wrong-status'])
  })

  it('UNKNOWN is right for an answer that only a node knew which died while its database was away', () => {
    const unbound = { ...GOOD.sessions[0]!, endedAtMs: 7_000, isOrderly: true }
    const kill = fault({ startMs: 15_000, endMs: 16_000, excuses: { copies: true }, killedNode: 0 })
    const buried = {
      sessions: [unbound],
      feed: [item(1, 'UNKNOWN'), GOOD.feed[2]!],
      webhooks: [webhook(1, 'UNKNOWN'), mo],
      plans: [{ keepsDoubtful: true }],
      ...record({ messages: [status('UNKNOWN')] }),
    }
    expect(rulesOf({ ...buried, faults: [kill] })).toEqual([])
    expect(rulesOf({ ...buried, faults: [{ ...kill, killedNode: 1 }] })).toEqual([])
    // The node lives on, or the database took something from it between the answer and its death.
    expect(rulesOf({ ...buried, faults: [{ ...kill, killedNode: null }] })).toEqual(['wrong-status'])
    const accepted = answer({ sentAtMs: 2_000, answeredAtMs: 2_010 })
    const load = [entry({ hasKey: true, answers: [answer(), accepted] })]
    expect(rulesOf({ ...buried, load, faults: [kill] })).toEqual(['wrong-status'])
    expect(rulesOf({ ...buried, load, faults: [{ ...kill, killedNode: 1 }] })).toEqual([])
  })
})

describe('copies', () => {
  const again = submit({ atMs: 200, answeredAtMs: 201 })
  const flagged = record({ copies: [{ n: 0, isFlagged: true }] })
  const crash = fault({ excuses: { copies: true } })

  it('are found where nothing explains them', () => {
    expect(rulesOf({ submits: [submit(), again], ...flagged })).toEqual(['copy-without-crash'])
  })

  it('must be flagged', () => {
    expect(rulesOf({ submits: [submit(), again], faults: [crash] })).toEqual(['copy-not-flagged'])
  })

  it.each<[string, Partial<Ledgers>]>([
    ['a crash', { faults: [crash] }],
    ['no answer', { submits: [submit({ answeredAtMs: null }), again] }],
    [
      'a session that broke',
      {
        sessions: [{ ...GOOD.sessions[0]!, endedAtMs: 100 }, GOOD.sessions[0]!],
        submits: [submit(), { ...again, session: 1 }],
      },
    ],
  ])('are excused by %s', (_, change) => {
    expect(rulesOf({ submits: [submit(), again], ...flagged, ...change })).toEqual([])
  })

  it('are bounded by the window of the session', () => {
    const two = [submit(), submit({ segment: 1 }), again, submit({ segment: 1, atMs: 200 })]
    expect(rulesOf({ submits: two, faults: [crash], ...flagged })).toEqual(['copies-beyond-window'])
  })
})

describe('events', () => {
  it.each<[string, Partial<Ledgers>, string[]]>([
    ['a gap in the feed', { feed: [GOOD.feed[1]!, GOOD.feed[2]!] }, ['event-missing', 'event-unknown']],
    ['the feed ends too early', { feed: [GOOD.feed[0]!, GOOD.feed[2]!] }, ['event-missing', 'event-unknown']],
    ['a webhook that never came', { webhooks: [GOOD.webhooks[0]!, mo] }, ['event-missing']],
    [
      'a webhook that was never accepted',
      { webhooks: [GOOD.webhooks[0]!, webhook(2, 'DELIVERED', { isAccepted: false }), mo] },
      ['event-missing'],
    ],
    ['the feed gives one twice', { feed: [...GOOD.feed, GOOD.feed[1]!] }, ['feed-repeated']],
    [
      'the feed gives the later first',
      { feed: [GOOD.feed[1]!, GOOD.feed[0]!, GOOD.feed[2]!] },
      ['feed-disordered'],
    ],
    [
      'a status that goes back',
      {
        feed: [item(1, 'DELIVERED'), item(2, 'SENT'), GOOD.feed[2]!],
        ...record({ messages: [status('SENT')] }),
      },
      ['status-backwards', 'unfinished'],
    ],
    [
      'the second before the first was accepted',
      { webhooks: [webhook(1, 'SENT', { answeredAtMs: 99 }), webhook(2, 'DELIVERED'), mo] },
      ['event-disordered'],
    ],
    [
      'the first after the second',
      { webhooks: [...GOOD.webhooks, webhook(1, 'SENT', { begunAtMs: 90 })] },
      ['event-disordered', 'event-repeated'],
    ],
    [
      'another body',
      { webhooks: [webhook(1, 'SENT', { digest: 'x' }), GOOD.webhooks[1]!, mo] },
      ['event-changed'],
    ],
    [
      'again without a cause',
      { webhooks: [...GOOD.webhooks, webhook(2, 'DELIVERED', { begunAtMs: 90 })] },
      ['event-repeated'],
    ],
  ])('%s', (_, change, rules) => {
    expect(rulesOf(change).toSorted()).toEqual(rules.toSorted())
  })

  it('come again after a fault that may have lost their answer', () => {
    const webhooks = [...GOOD.webhooks, webhook(2, 'DELIVERED', { begunAtMs: 90 })]
    expect(
      rulesOf({ webhooks, faults: [fault({ startMs: 80, endMs: 85, excuses: { repeats: true } })] }),
    ).toEqual([])
  })

  it('come again later if another fault holds up what would settle it', () => {
    const webhooks = [...GOOD.webhooks, webhook(2, 'DELIVERED', { begunAtMs: 80_000 })]
    const cut = fault({ startMs: 80, endMs: 85, excuses: { repeats: true } })
    expect(rulesOf({ webhooks, faults: [cut] })).toEqual(['event-repeated'])
    const before = fault({ startMs: 10, endMs: 80 })
    const locked = fault({ startMs: 20_000, endMs: 80_000 })
    expect(rulesOf({ webhooks, faults: [before, cut] })).toEqual(['event-repeated'])
    expect(rulesOf({ webhooks, faults: [cut, locked] })).toEqual([])
  })

  it('come again when a node dies that could not write their answer, its database being away', () => {
    const webhooks = [...GOOD.webhooks, webhook(2, 'DELIVERED', { begunAtMs: 40_000 })]
    const kill = fault({ startMs: 20_000, endMs: 21_000, killedNode: 0 })
    expect(rulesOf({ webhooks, faults: [kill] })).toEqual([])
    const accepted = answer({ sentAtMs: 5_000, answeredAtMs: 5_010 })
    const load = [entry({ hasKey: true, answers: [answer(), accepted] })]
    expect(rulesOf({ webhooks, load, faults: [kill] })).toEqual(['event-repeated'])
  })

  it('do not come again behind a later one, not even when a node has died', () => {
    const again = [
      webhook(1, 'SENT', { begunAtMs: 40_000, answeredAtMs: 40_010 }),
      webhook(2, 'DELIVERED', { begunAtMs: 40_100, answeredAtMs: 40_110 }),
    ]
    const kill = fault({ startMs: 20_000, endMs: 21_000, killedNode: 0, excuses: { repeats: true } })
    const [sent, delivered] = GOOD.webhooks
    expect(rulesOf({ webhooks: [sent!, again[0]!, again[1]!, mo], faults: [kill] })).toEqual([])
    expect(rulesOf({ webhooks: [sent!, delivered!, ...again, mo], faults: [kill] })).toEqual([
      'event-disordered',
    ])
  })

  it('are not pushed where there is no URL', () => {
    expect(rulesOf({ load: [entry({ isPushed: false })], webhooks: [mo] })).toEqual([])
  })
})

it('a message in doubt may be matched with its receipt while feed and record are read', () => {
  const doubtful = { plans: [{ keepsDoubtful: true }] }
  const behind = { feed: [item(1, 'UNKNOWN'), GOOD.feed[2]!], webhooks: [webhook(1, 'UNKNOWN'), mo] }
  expect(rulesOf(behind)).toEqual(['event-missing'])
  expect(rulesOf({ ...behind, ...doubtful })).toEqual([])
  const later = submit({ n: 1, receiptAcknowledgedAtMs: 100_000 })
  expect(rulesOf({ ...behind, ...doubtful, submits: [submit(), later] })).toContain('event-missing')
})

it('a copy is looked for in every record of its request, which a key may have given two', () => {
  const [accepted] = GOOD.record.messages
  const refused = { ...accepted!, msgId: 'refused', status: 'FAILED' }
  expect(recordsOfCopies([submit(), submit({ atMs: 50 })], [accepted!, refused])).toEqual([
    { n: 0, msgIds: [ID, 'refused'] },
  ])
})

it('an inbound message that the feed told of twice stands for no other that is still to come', () => {
  const told = { ...GOOD.feed[2]!, eventId: 'other-0', msgId: 'other' }
  const inbound = [...GOOD.inbound, { ...GOOD.inbound[0]!, k: 1 }]
  expect(unannouncedOf({ inbound, feed: [...GOOD.feed, told] })).toEqual([inbound[1]])
})

describe('inbound messages', () => {
  it.each<[string, Partial<Ledgers>, string[]]>([
    ['acknowledged and lost', record({ inbound: [] }), ['inbound-lost']],
    [
      'acknowledged under two ids',
      record({ inbound: [...GOOD.record.inbound, { msgId: 'other', k: 0 }] }),
      ['inbound-doubled', 'event-missing'],
    ],
    [
      'never acknowledged',
      { inbound: [{ ...GOOD.inbound[0]!, acknowledgedAtMs: null }] },
      ['inbound-unacknowledged'],
    ],
    ['not announced', { webhooks: GOOD.webhooks.slice(0, 2), feed: GOOD.feed }, ['event-missing']],
  ])('%s', (_, change, rules) => {
    expect(rulesOf(change).toSorted()).toEqual(rules.toSorted())
  })
})

describe('times', () => {
  const later = (sentAtMs: number) =>
    entry({ n: 1, answers: [answer({ sentAtMs, answeredAtMs: sentAtMs + 9, msgId: 'm1' })] })

  it('a node accepts within 5 s of the end of a fault', () => {
    expect(timeToAccept({ ...GOOD, load: [entry(), later(6_000)] }, fault())).toBe(5_986)
    expect(timeToAccept(GOOD, fault())).toBeNull()
    const { endMs } = fault()
    const cutShort = [fault(), fault({ startMs: endMs + 2_000, endMs: endMs + 3_000 })]
    expect(timeToAccept({ ...GOOD, faults: cutShort, load: [entry(), later(6_000)] }, fault())).toBeNull()
    const whole = judge({ ...GOOD, faults: [fault()], load: [entry(), later(6_000)] })
    expect(whole.map(({ rule }) => rule)).toContain('slow-to-accept')
  })

  it('what a dead node had accepted is sent within 15 s', () => {
    const dead = fault({ startMs: 15, killedNode: 0 })
    const late = { ...GOOD, submits: [submit({ atMs: 20_000 })] }
    expect(timeToTakeOver(late, dead)).toBe(19_985)
    expect(timeToTakeOver(late, fault({ startMs: 5, killedNode: 0 }))).toBeNull()
    expect(judge({ ...late, faults: [dead] }).map(({ rule }) => rule)).toContain('slow-takeover')
  })

  it('counted from when the database can give its work to others', () => {
    const dead = fault({ startMs: 15, killedNode: 0, freeMs: 18_000 })
    const sentAt = (atMs: number) => timeToTakeOver({ ...GOOD, submits: [submit({ atMs })] }, dead)
    expect([sentAt(20_000), sentAt(17_000)]).toEqual([2_000, 0])
  })

  it('a takeover that the next fault holds up says nothing; one that was in time before does', () => {
    const dead = fault({ startMs: 15, endMs: 500, killedNode: 0 })
    const next = fault({ startMs: 3_000 })
    const taken = (atMs: number) =>
      timeToTakeOver({ ...GOOD, faults: [dead, next], submits: [submit({ atMs })] }, dead)
    expect([taken(14_000), taken(20_000)]).toEqual([13_985, null])
  })

  it('counted anew from when the database is back that went away before the takeover, and took a node along', () => {
    const dead = fault({ startMs: 15, endMs: 500, killedNode: 0 })
    const away = fault({ begunMs: 5_000, startMs: 19_000, endMs: 24_000, killedNode: 1, freeMs: 22_000 })
    const taken = (atMs: number, next = away) =>
      timeToTakeOver({ ...GOOD, faults: [dead, next], submits: [submit({ atMs })] }, dead)
    expect([taken(28_300), taken(4_000), taken(40_000)]).toEqual([6_300, 0, 18_000])
    expect(taken(28_300, { ...away, freeMs: undefined })).toBeNull()
  })

  it('a backlog is taken over when its submits go on, however long it takes to drain', () => {
    const dead = fault({ startMs: 5_000, endMs: 17_000, killedNode: 0 })
    const places = Array.from({ length: 300 }, (_, n) => n)
    const load = places.map((n) => entry({ n }))
    const submits = places.map((n) => submit({ n, atMs: n === 0 ? 5_001 : 14_000 + 100 * n }))
    expect(timeToTakeOver({ ...GOOD, faults: [dead], load, submits }, dead)).toBe(9_100)
  })

  it('a node that drains answers what it has', () => {
    const reset = [entry({ answers: [answer({ status: null, failure: 'reset', answeredAtMs: 22 })] })]
    const draining = fault({ excuses: { drains: true } })
    expect(rulesOf({ load: reset, faults: [draining] })).toEqual(['reset-while-draining'])
    expect(rulesOf({ load: reset, faults: [fault()] })).toEqual([])
  })
})

it('names the fault in force, one that begins at once, or the last before', () => {
  const [first, second] = [
    fault({ kind: 'a', startMs: 5_000, endMs: 6_000 }),
    fault({ kind: 'b', startMs: 20_000, endMs: 21_000 }),
  ]
  const kindAt = (atMs: number) => faultAt([first, second], atMs)?.kind
  expect([1_000, 3_000, 5_500, 15_000, 18_000, 60_000].map(kindAt)).toEqual([
    undefined,
    'a',
    'a',
    'a',
    'b',
    undefined,
  ])
})
