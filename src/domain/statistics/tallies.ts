import { latencyBucket } from '../carriers/quality.ts'
import { createdAtMs } from '../identifiers.ts'
import { MINUTE_MS } from '../instants.ts'
import type { LaterFact, MessageState } from '../journal/message-facts.ts'
import type { MessageInProgress } from '../journal/messages-in-progress.ts'
import { type Charge, parseAmount } from '../routing/rates.ts'
import {
  COUNTS,
  type Count,
  codeKey,
  LATENCIES,
  LATENCY_BOUNDS_MS,
  LATENCY_BUCKETS,
  LATEST_WRITE_MS,
  type LatencyKind,
  type StatisticsRow,
} from './query.ts'

/** How far a message was when a fact changed its state. */
export interface StateChange {
  readonly message: Pick<MessageInProgress, 'msgId' | 'accepted'>
  readonly before: MessageState
  readonly after: MessageState
  readonly fact: LaterFact
}

export interface TallyBounds {
  /** Combinations of a minute with a country. */
  readonly rows: number
  /** The same of one plan, so that it cannot take up all. */
  readonly rowsOfPlan: number
}

/** About 10 MB: a row takes 700 octets, and for some seconds there are those of two minutes. */
const BOUNDS: TallyBounds = { rows: 10_000, rowsOfPlan: 500 }
const MOST_AMOUNTS = 10_000
/** Full minutes that wait to be written. */
const MOST_MINUTES = 3
/** Where each count is in the values of a tally. */
const [ACCEPTED, SENT, DELIVERED, FAILED, UNKNOWN, INBOUND, SEGMENTS] = [0, 1, 2, 3, 4, 5, 6]
/** Where the buckets of each kind begin, behind the counts. */
const PLACE_OF = Object.fromEntries(
  LATENCIES.map((kind, index) => [kind, COUNTS.length + index * LATENCY_BUCKETS]),
) as Record<LatencyKind, number>
const PLACES = COUNTS.length + LATENCIES.length * LATENCY_BUCKETS
/** The key of rows that are the sums of all plans. */
const ALL_PLANS = 0

/** The counts of one combination in one minute. */
class Tally {
  readonly planId: number
  readonly routeId: number
  readonly carrierId: number
  readonly country: string
  /** A plain array, because a typed array of this size is two more objects away. */
  readonly values: number[] = new Array(PLACES).fill(0)
  /** By `codeKey`. */
  codes: Map<number, number> | null = null
  /** Millionths by currency. */
  prices: Map<string, { millionths: number }> | null = null
  /** It has counts that are not written. */
  isNews = false

  constructor(planId: number, routeId: number, carrierId: number, country: string) {
    this.planId = planId
    this.routeId = routeId
    this.carrierId = carrierId
    this.country = country
  }

  latency(kind: LatencyKind, latencyMs: number): void {
    this.values[PLACE_OF[kind] + latencyBucket(LATENCY_BOUNDS_MS[kind], latencyMs)]! += 1
  }

  code(key: number, more = 1): void {
    this.codes ??= new Map()
    this.codes.set(key, (this.codes.get(key) ?? 0) + more)
  }

  price(currency: string, millionths: number): void {
    this.prices ??= new Map()
    const sum = this.prices.get(currency)
    // Changed in place: a number put into the map would be a new object each time.
    if (sum === undefined) this.prices.set(currency, { millionths })
    else sum.millionths += millionths
  }

  add(other: Tally): void {
    for (let place = 0; place < PLACES; place += 1) this.values[place]! += other.values[place]!
    for (const [key, count] of other.codes ?? []) this.code(key, count)
    for (const [currency, { millionths }] of other.prices ?? []) this.price(currency, millionths)
  }

  row(atMs: number): StatisticsRow {
    const { planId, routeId, carrierId, country, values, codes, prices } = this
    const counts = Object.fromEntries(COUNTS.map((name, place) => [name, values[place]!]))
    const latencies = Object.fromEntries(
      LATENCIES.map((kind) => {
        const buckets = values.slice(PLACE_OF[kind], PLACE_OF[kind] + LATENCY_BUCKETS)
        return [kind, buckets.every((count) => count === 0) ? null : buckets]
      }),
    )
    return {
      atMs,
      planId,
      routeId,
      carrierId,
      country,
      ...(counts as Record<Count, number>),
      ...(latencies as Record<LatencyKind, number[] | null>),
      codes: [...(codes?.keys() ?? [])],
      codeCounts: [...(codes?.values() ?? [])],
      currencies: [...(prices?.keys() ?? [])],
      prices: Array.from(prices?.values() ?? [], ({ millionths }) => millionths),
    }
  }
}

/** The tallies of one minute. */
class Minute {
  readonly atMs: number
  readonly #bounds: TallyBounds
  /** By plan and `keyOf`. */
  readonly #plans = new Map<number, Map<number, Tally>>()
  readonly #all: Tally[] = []

  constructor(atMs: number, bounds: TallyBounds) {
    this.atMs = atMs
    this.#bounds = bounds
  }

  get size(): number {
    return this.#all.length
  }

  tally(planId: number, routeId: number, carrierId: number, country: string): Tally {
    const key = keyOf(routeId, carrierId, country)
    const tally = this.#plans.get(planId)?.get(key) ?? this.#new(key, planId, routeId, carrierId, country)
    tally.isNews = true
    return tally
  }

  /**
   * Without room for another combination, it is counted without its country and, in the last resort, for its plan alone. There is
   * always room for that, so no plan makes the counts of another one disappear.
   */
  #new(key: number, planId: number, routeId: number, carrierId: number, country: string): Tally {
    const plan = this.#plans.get(planId) ?? new Map<number, Tally>()
    this.#plans.set(planId, plan)
    const { rows, rowsOfPlan } = this.#bounds
    const share = country === '' ? 2 : 1
    const hasRoom = this.#all.length < share * rows && plan.size < share * rowsOfPlan
    if (!hasRoom && country !== '') return this.tally(planId, routeId, carrierId, '')
    if (!hasRoom && key !== 0) return this.tally(planId, 0, 0, '')
    const tally = new Tally(planId, routeId, carrierId, country)
    plan.set(key, tally)
    this.#all.push(tally)
    return tally
  }

  get hasNews(): boolean {
    return this.#all.some(({ isNews }) => isNews)
  }

  /** The tallies with news, and the sums over all plans, as rows. They count as written. */
  takeNews(): StatisticsRow[] {
    const news = this.#all.filter(({ isNews }) => isNews)
    if (news.length === 0) return []
    for (const tally of news) tally.isNews = false
    return [...news, ...this.#sums()].map((tally) => tally.row(this.atMs))
  }

  /** They are not written after all. */
  putBack(): void {
    for (const tally of this.#all) tally.isNews = true
  }

  #sums(): Iterable<Tally> {
    const sums = new Map<number, Tally>()
    for (const tally of this.#all) {
      const { routeId, carrierId } = tally
      const key = keyOf(routeId, carrierId, '')
      const sum = sums.get(key) ?? new Tally(ALL_PLANS, routeId, carrierId, '')
      sums.set(key, sum)
      sum.add(tally)
    }
    return sums.values()
  }
}

/**
 * What this process has counted, by minute. A row holds the whole minute so far and replaces the one written before, so writing
 * it twice does not count twice. Times are Unix milliseconds of now: a count belongs to the minute in which it is made.
 */
export class StatisticsTallies {
  readonly #bounds: TallyBounds
  #minute: Minute
  /** Earlier minutes that may not be written yet. */
  #earlier: Minute[] = []
  #dropped = 0
  /** Amounts as they are written, in millionths. */
  readonly #amounts = new Map<string, number>()

  constructor(bounds: TallyBounds = BOUNDS) {
    this.#bounds = bounds
    this.#minute = new Minute(0, bounds)
  }

  accepted(
    nowMs: number,
    { planId, routeId, country }: MessageInProgress['accepted'],
    latencyMs: number,
  ): void {
    const tally = this.#tally(nowMs, planId, routeId, 0, country)
    tally.values[ACCEPTED]! += 1
    tally.latency('accept', latencyMs)
  }

  /** A message that was UNKNOWN and is delivered after all counts as both. */
  changed(nowMs: number, { message, before, after, fact }: StateChange): void {
    const isTaken = before.sentAtMs === null && after.sentAtMs !== null
    const isEnded = after.sequence > before.sequence && after.status !== 'SENT'
    if (!isTaken && !isEnded && before.charge === after.charge) return
    const { planId, country } = message.accepted
    const tally = this.#tally(nowMs, planId, after.routeId ?? 0, after.carrierId ?? 0, country)
    if (isTaken) {
      tally.values[SENT]! += 1
      tally.values[SEGMENTS]! += after.segments
      tally.latency('submit', after.sentAtMs! - createdAtMs(message.msgId))
    }
    if (isEnded) countEnd(tally, after, fact)
    if (before.charge === after.charge) return
    if (before.charge !== null)
      this.#charge(
        this.#tally(nowMs, planId, before.routeId ?? 0, before.carrierId ?? 0, country),
        before.charge,
        -1,
      )
    if (after.charge !== null) this.#charge(tally, after.charge, 1)
  }

  inbound(nowMs: number, planId: number, carrierId: number, country: string | null): void {
    this.#tally(nowMs, planId, 0, carrierId, country).values[INBOUND]! += 1
  }

  webhook(nowMs: number, planId: number, country: string | null, latencyMs: number): void {
    this.#tally(nowMs, planId, 0, 0, country).latency('webhook', latencyMs)
  }

  /** The minutes that may have something to write, oldest first, and how many were dropped since the last call. */
  due(nowMs: number): { readonly minutes: readonly Minute[]; readonly dropped: number } {
    this.#dropLate(nowMs)
    const dropped = this.#dropped
    this.#dropped = 0
    return { minutes: [...this.#earlier, this.#minute], dropped }
  }

  /** The counts that were taken of this minute have been written. */
  written(minute: Minute): void {
    if (!minute.hasNews) this.#earlier = this.#earlier.filter((one) => one !== minute)
  }

  /** Drops minutes that nothing would read so late. The rows are limited, because the database may be away for long. */
  #dropLate(nowMs: number): void {
    let rows = this.#earlier.reduce((sum, { size }) => sum + size, 0)
    while (
      this.#earlier.length > 0 &&
      (rows > MOST_MINUTES * this.#bounds.rows || nowMs - this.#earlier[0]!.atMs >= LATEST_WRITE_MS)
    ) {
      const oldest = this.#earlier.shift()!
      rows -= oldest.size
      if (oldest.hasNews) this.#dropped += 1
    }
  }

  #tally(nowMs: number, planId: number, routeId: number, carrierId: number, country: string | null): Tally {
    let minute = this.#minute
    // Never back to an earlier minute, which may be written already.
    if (nowMs >= minute.atMs + MINUTE_MS) {
      // A minute without news is kept too, because a write in flight may be refused.
      if (minute.size > 0) this.#earlier.push(minute)
      this.#dropLate(nowMs)
      minute = new Minute(nowMs - (nowMs % MINUTE_MS), this.#bounds)
      this.#minute = minute
    }
    return minute.tally(planId, routeId, carrierId, country ?? '')
  }

  #charge(tally: Tally, { price, currency }: Charge, sign: 1 | -1): void {
    let millionths = this.#amounts.get(price)
    if (millionths === undefined) {
      if (this.#amounts.size >= MOST_AMOUNTS) this.#amounts.clear()
      millionths = Number(parseAmount(price) ?? 0n)
      this.#amounts.set(price, millionths)
    }
    tally.price(currency, sign * millionths)
  }
}

const LETTERS = 26
const FIRST_LETTER = 'A'.charCodeAt(0)
const COUNTRY_BITS = 10
const SMALL_BITS = 10

/**
 * One exact number for a combination. Small keys of the database make a small integer, which is looked up without an object; the
 * others stay below 2^21.
 */
function keyOf(routeId: number, carrierId: number, country: string): number {
  const letters =
    country === ''
      ? 0
      : (country.charCodeAt(0) - FIRST_LETTER) * LETTERS + country.charCodeAt(1) - FIRST_LETTER + 1
  if (routeId < 2 ** SMALL_BITS && carrierId < 2 ** SMALL_BITS)
    return (((carrierId << SMALL_BITS) | routeId) << COUNTRY_BITS) | letters
  return -((carrierId * 2 ** 21 + routeId) * 2 ** COUNTRY_BITS + letters)
}

function countEnd(
  tally: Tally,
  { status, errorCode, changedAtMs, sentAtMs }: MessageState,
  fact: LaterFact,
): void {
  if (status === 'DELIVERED') tally.values[DELIVERED]! += 1
  else if (status === 'FAILED') tally.values[FAILED]! += 1
  else tally.values[UNKNOWN]! += 1
  if (status === 'FAILED' || status === 'UNKNOWN') tally.code(codeKey(status, errorCode))
  // Without a receipt there is nothing to measure: a carrier refused the message, or the receipt is overdue.
  if (fact.kind === 'receipt' && sentAtMs !== null)
    tally.latency('receipt', Math.max(changedAtMs - sentAtMs, 0))
}
