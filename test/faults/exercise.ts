/** One run: a bed under load and faults, then quiet, then its ledgers. */
import type { SeededRandom } from '../../bench/seeded-random.ts'
import { Bed, type BedOptions, INBOUND_NUMBER } from './bed.ts'
import { textOf } from './carrier.ts'
import { nowMs, pause } from './clock.ts'
import { FeedReader } from './feed-reader.ts'
import type { Ledgers, LookUp } from './ledgers.ts'
import { Load } from './load.ts'
import { bringFaults } from './nemesis.ts'
import type { Planned } from './schedule.ts'
import { read } from './service-client.ts'
import { readRecord, settle } from './settling.ts'

const INBOUND_INTERVAL_MS = 200
/** One inbound message in this many has two parts. */
const INBOUND_LONG = 5
/** One inbound message in this many is sent in two parts at once. */
const PARTS_AT_ONCE = 10 * INBOUND_LONG
/** Of the statuses that the service reports, one in this many is looked up at once. */
const LOOKED_UP = 25
const LOOK_UPS_AT_ONCE = 10
const SETTLE_MS = 120_000
/** Time without faults at the end, in which every node can be seen to accept. */
const LAST_MS = 3_000

export interface Exercise extends BedOptions {
  readonly schedule: Iterable<Planned>
  readonly seconds: number
  readonly maxFaults: number
  /** Requests a second. */
  readonly rate: number
  /** When it aborts, no further fault begins and nothing is waited for: the run so far is judged. */
  readonly ending: AbortSignal
  /** Ends the run without a result. */
  readonly signal: AbortSignal
  readonly onProgress: (line: string) => void
  /** Some inbound messages arrive over two sessions at once, and may be joined only a minute later. */
  readonly offersPartsAtOnce: boolean
  /** See LoadOptions. */
  readonly triesElsewhere?: boolean
  /** How long settling may take, if not the default. */
  readonly settleMs?: number
  /** For the controls: called before the load begins. */
  readonly prepare?: (bed: Bed) => Promise<unknown>
  /** For the controls: changes the record before it is read. */
  readonly tamper?: (bed: Bed) => Promise<unknown>
}

export interface Exercised {
  readonly ledgers: Ledgers
  readonly accepted: number
  readonly seconds: number
  /** Everything settled in time. */
  readonly isSettled: boolean
}

export async function exercise(options: Exercise): Promise<Exercised> {
  await using bed = await Bed.make(options)
  await options.prepare?.(bed)
  const startMs = nowMs()
  const lookUps = new LookUps(bed, options.random)
  bed.onWebhook = ({ msgId, status }) => status !== null && lookUps.maybe(msgId, status)
  const readers = bed.plans.map(
    (plan) =>
      new FeedReader(
        plan,
        bed.baseUrls,
        bed.feed,
        ({ msgId, status }) => status && lookUps.maybe(msgId, status),
      ),
  )
  const load = new Load({
    nodes: bed.baseUrls,
    plans: bed.plans,
    rate: options.rate,
    triesElsewhere: options.triesElsewhere ?? false,
    onAccepted: ({ plan }, { msgId }) => {
      lookUps.planOf.set(msgId!, plan)
      bed.pass('accepted')
      lookUps.maybe(msgId!, 'QUEUED')
    },
  })
  const inbound = offerInbound(bed, options.offersPartsAtOnce)
  try {
    const faults = await bringFaults({
      bed,
      schedule: options.schedule,
      untilMs: startMs + options.seconds * 1_000,
      maxFaults: options.maxFaults,
      signal: options.ending,
      onFault: ({ kind, node, holdMs }) =>
        options.onProgress(
          `${String(Math.round((nowMs() - startMs) / 1_000)).padStart(4)} s  ${load.accepted} accepted  ${kind.name} (node ${node}, ${holdMs} ms)`,
        ),
    })
    await pause(LAST_MS, options.ending)
    options.signal.throwIfAborted()
    const seconds = (nowMs() - startMs) / 1_000
    clearInterval(inbound)
    await load.stop()
    const loadedMs = nowMs()
    const { isSettled, last } = await settle(bed, options.settleMs ?? SETTLE_MS, options.ending)
    options.signal.throwIfAborted()
    const tookS = Math.round((nowMs() - loadedMs) / 1_000)
    options.onProgress(`${load.accepted} accepted; ${tookS} s to settle${last === null ? '' : `: ${last}`}`)
    await options.tamper?.(bed)
    await Promise.all(readers.map((reader) => reader.stop()))
    await lookUps.end()
    const record = await readRecord(bed)
    const { submits, sessions, webhooks, feed, plans } = bed
    const own = { load: load.entries, lookUps: bed.lookUps, inbound: bed.inbound, faults, record }
    return {
      ledgers: { ...own, submits, sessions, webhooks, feed, plans },
      accepted: load.accepted,
      seconds,
      isSettled,
    }
  } finally {
    clearInterval(inbound)
    await Promise.all([load.stop(), ...readers.map((reader) => reader.abort())])
  }
}

function offerInbound(bed: Bed, atOnce: boolean): NodeJS.Timeout {
  let k = 0
  return setInterval(() => {
    const carrier = bed.carriers[k % bed.carriers.length]!
    carrier.offerInbound(
      k,
      INBOUND_NUMBER,
      textOf(k, k % INBOUND_LONG === 0 ? 2 : 1),
      atOnce && k % PARTS_AT_ONCE === 0,
    )
    k += 1
  }, INBOUND_INTERVAL_MS)
}

/** Every node must confirm what the service has just said of a message. */
class LookUps {
  /** By message id. Only messages that were answered 202 are looked up. */
  readonly planOf = new Map<string, number>()
  readonly #bed: Bed
  readonly #random: SeededRandom
  readonly #open = new Set<Promise<void>>()

  constructor(bed: Bed, random: SeededRandom) {
    this.#bed = bed
    this.#random = random
  }

  maybe(msgId: string, atLeast: string): void {
    const plan = this.planOf.get(msgId)
    if (plan === undefined || this.#open.size >= LOOK_UPS_AT_ONCE || !this.#random.once(LOOKED_UP)) return
    const looking = this.#look(msgId, atLeast, plan).catch(() => undefined)
    this.#open.add(looking)
    void looking.finally(() => this.#open.delete(looking))
  }

  async end(): Promise<void> {
    await Promise.all(this.#open)
  }

  async #look(msgId: string, atLeast: string, plan: number): Promise<void> {
    const node = this.#random.below(this.#bed.nodes.length)
    const atMs = nowMs()
    const path = `/v1/messages/sms/${msgId}`
    const { status: httpStatus, json } = await read(this.#bed.baseUrls[node]!, this.#bed.plans[plan]!, path)
    const look: LookUp = { msgId, node, atMs, atLeast, httpStatus, status: json.status ?? null }
    this.#bed.lookUps.push(look)
  }
}
