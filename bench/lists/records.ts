import { messageId } from '../../src/domain/identifiers.ts'
import type { Status } from '../../src/domain/messages/messages.ts'
import { CopyRows, copyIn } from '../../src/store/copy.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { type OfAKind, withKindsNoted } from '../../src/store/message-kinds.ts'
import { randomOctets, SeededRandom } from '../seeded-random.ts'

/** Messages of earlier days, written by COPY as the projection writes them: a share of one plan, the others of 20 plans. */

export interface RecordsOptions {
  readonly databaseUrl: string
  readonly planId: number
  readonly records: number
  /** The days over which they are spread, for which there are partitions; 1: the last 24 hours. */
  readonly days: number
  readonly nowMs: number
  /** 1 of so many messages is the plan's; default: 3. */
  readonly oneOf?: number
}

/** Values of the plan's messages, by how many messages have them. */
export const VALUES = {
  from: { many: 'Sender0', few: 'Seldom', none: 'Never' },
  to: { many: '+491510000000', few: '+491520000000', none: '+491530000000' },
  status: { many: 'FAILED', few: 'UNKNOWN', none: 'QUEUED' },
  country: { many: 'DE', few: 'IS', none: 'LI' },
  mccmnc: { many: '26200', few: '27401', none: '29501' },
} as const

/** Pairs of values: many messages have either, none has both. */
export const APART = [
  { from: 'Domestic', country: 'FR' },
  { from: 'Domestic', mccmnc: '20801' },
  { country: 'DE', mccmnc: '20801' },
  { country: 'FR', mccmnc: '26200' },
] as const

/** How many of the plan's messages have each rare value. Some have two of them, or all. */
const FEW = 50
const DAY_MS = 86_400_000
const BATCH = 5_000
const OTHER_PLANS = 20
const FIRST_OTHER_PLAN = 1_000_000
const SENDERS = 30
const COUNTRIES = [
  'DE',
  'FR',
  'GB',
  'ES',
  'IT',
  'NL',
  'BE',
  'AT',
  'CH',
  'PL',
  'SE',
  'NO',
  'DK',
  'FI',
  'PT',
  'IE',
]
const CODES = [262, 208, 234, 214, 222, 204, 206, 232, 228, 260, 240, 242, 238, 244, 268, 272]
const NETWORKS = 3

interface Row extends OfAKind {
  readonly recipient: string
  readonly atMs: number
}

export async function makeRecords(options: RecordsOptions): Promise<void> {
  const { databaseUrl, records, days, nowMs } = options
  // The last statement has no time limit: it takes longer the more records there are.
  const db = openDatabase({ connectionString: databaseUrl, poolSize: 2, statementTimeoutMs: 0 })
  const random = new SeededRandom(28)
  const stepMs = (days * DAY_MS) / records
  for (let made = 0; made < records; made += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, records - made) }, (_, index) => {
      const nth = made + index
      return rowOf(options, random, nth, Math.floor(nowMs - (records - nth) * stepMs))
    })
    await withKindsNoted(db, batch, (tx) => copyIn(tx, [written(batch)]))
  }
  await db.query('vacuum analyze messages, message_kinds')
  await db.end()
}

function rowOf(
  { planId, records, oneOf = 3 }: RecordsOptions,
  random: SeededRandom,
  nth: number,
  atMs: number,
): Row {
  const isOwn = nth % oneOf === 0
  const network = often(random, COUNTRIES.length * NETWORKS)
  const isDomestic = random.once(10)
  const at = isDomestic ? random.below(NETWORKS) : network
  const row = {
    planId: isOwn ? planId : FIRST_OTHER_PLAN + random.below(OTHER_PLANS),
    msgId: messageId(atMs, randomOctets(random, 9), random.below(256)),
    atMs,
    sender: isDomestic ? 'Domestic' : `Sender${often(random, SENDERS)}`,
    recipient: random.once(1_000) ? VALUES.to.many : `+4915${String(random.below(1e9)).padStart(9, '0')}`,
    country: COUNTRIES[Math.floor(at / NETWORKS)]!,
    mccmnc: `${CODES[Math.floor(at / NETWORKS)]}0${at % NETWORKS}`,
    status: (random.once(25) ? 'FAILED' : 'DELIVERED') as Status,
  }
  return isOwn ? { ...row, ...seldom(Math.floor(nth / oneOf), Math.floor(records / oneOf)) } : row
}

/** Spreads rare values evenly over all messages: one after the other, then all of them at once. */
function seldom(nth: number, messages: number): Partial<Row> {
  const every = Math.max(5, Math.floor(messages / FEW / 5))
  if (nth % every !== every - 1) return {}
  const one: Partial<Row>[] = [
    { sender: VALUES.from.few },
    { recipient: VALUES.to.few },
    { status: VALUES.status.few },
    { country: VALUES.country.few, mccmnc: VALUES.mccmnc.few },
  ]
  return one[Math.floor(nth / every) % 5] ?? Object.assign({}, ...one)
}

/** 0 to `limit` - 1, lower ones more often: of 30 the first has a sixth, the last a hundredth. */
function often(random: SeededRandom, limit: number): number {
  return Math.floor((random.next() / 2 ** 32) ** 2 * limit)
}

function written(batch: readonly Row[]): CopyRows {
  const to = new CopyRows('messages')
  for (const row of batch) {
    to.row()
    to.int4('plan_id', row.planId)
    to.uuid('msg_id', row.msgId)
    to.text('status', row.status)
    to.int2('segments', 1)
    to.timestamptz('updated_at', row.atMs)
    to.timestamptz('sent_at', row.atMs)
    to.int4('carrier_id', 1)
    to.text('sender', row.sender)
    to.text('recipient', row.recipient)
    to.text('body', 'Your code is 123456. It is valid for five minutes. Do not pass it on.')
    to.text('callback_url', 'https://example.com/callback/dlr')
    to.text('country', row.country)
    to.text('mccmnc', row.mccmnc)
  }
  return to
}
