import type { Backlog, HeldGroup } from './backlog.ts'
import type { Directory } from './configuration/directory.ts'
import { createdAtMs } from './identifiers.ts'
import {
  type Cap,
  capsOf,
  describeLimitEvent,
  periodAt,
  type StoredLimitEvent,
} from './limits/plan-limits.ts'
import type { CarrierBindState } from './nodes.ts'

/** What an operator should know at once, and when to send it. */

/** By name: what to do. docs/alarms.md has a section for each, whose anchor is the name. */
const WHAT_TO_DO = {
  'carrier-unbound':
    '`aldis carrier binds NAME` shows its last errors; stop a carrier that is meant to be down',
  'messages-wait': '`aldis queue` shows why they wait',
  'breaker-open': 'tell the customer whose receiver it is; `aldis destination resume` tries it at once',
  'floor-reached':
    'ask the carrier; `aldis quality` shows its figures, `aldis quality-pause delete` uses it again',
  'receipts-missing': 'ask the carrier, or set its idRule; `aldis message list --carrier` shows messages',
  'cap-reached': 'ask the customer, then raise the cap: `aldis plan-limits` shows what is used',
  'unowned-inbound': '`aldis unowned-inbound list` shows them; give the number to a plan',
} as const

export type AlarmName = keyof typeof WHAT_TO_DO
export const ALARM_NAMES = Object.keys(WHAT_TO_DO) as AlarmName[]

/** Something that is wrong now. */
export interface AlarmCondition {
  readonly name: AlarmName
  /** What it is about: a carrier, a route, or two of these; empty: the whole installation. */
  readonly object: string
  /** Since when it has been so. */
  readonly since: Date
  /** How bad it is, in the unit of its alarm; null if the alarm has no measure. */
  readonly value: number | null
  /** One line for people. */
  readonly summary: string
  /** The condition may or may not hold: it raises no alarm, and clears none. */
  readonly isUncertain?: true
}

export function whatToDo(name: AlarmName): string {
  return `${WHAT_TO_DO[name]} (docs/alarms.md#${name})`
}

/** What a node knows of the installation. */
export interface AlarmScene {
  readonly nowMs: number
  readonly carriers: readonly {
    readonly name: string
    readonly state: string
    readonly binds: readonly CarrierBindState[]
  }[]
  readonly backlog: Pick<Backlog, 'waiting' | 'destinations'>
  /** Messages in the memory of any node that have waited for too long. */
  readonly held: readonly HeldGroup[]
  readonly directory: Directory
  /** Carriers that are out of use in a route. */
  readonly pauses: readonly {
    readonly route: string
    readonly carrier: string
    readonly since: Date
    readonly reason: string
  }[]
  /** By carrier, for the hour before the last 10 minutes. */
  readonly receipts: readonly { readonly carrier: string; readonly sent: number; readonly missing: number }[]
  /** Caps of plans that were used up in the last month. */
  readonly usedCaps: readonly Pick<StoredLimitEvent, 'planId' | 'at' | 'contents'>[]
  /** Inbound messages of the last hour that nobody owns; null: there are none. */
  readonly unowned: { readonly count: number; readonly since: Date } | null
  /** A message that waits for longer is an alarm. */
  readonly backlogSeconds: number
}

/** Fewer missing receipts than this, or than this share of the messages sent, are no alarm. */
const LEAST_MISSING = 100
const LEAST_MISSING_SHARE = 0.1
/** Hundreds of receivers may break at once, when a cloud does. More alarms would tell nobody more. */
const MOST_CONDITIONS = 200

/** Everything that is wrong, by alarm. An alarm about something else is another line here. */
export function alarmConditions(scene: AlarmScene): AlarmCondition[] {
  return [
    ...unboundCarriers(scene),
    ...waitingMessages(scene),
    ...openBreakers(scene),
    ...carriersBelowFloor(scene),
    ...missingReceipts(scene),
    ...reachedCaps(scene),
    ...unownedInbound(scene),
  ].slice(0, MOST_CONDITIONS)
}

/** For some seconds after a bind has moved, its new node has not reported how it is. */
function unboundCarriers({ carriers, nowMs }: AlarmScene): AlarmCondition[] {
  const down = carriers.filter(
    ({ state, binds }) => state !== 'stopped' && !binds.some((bind) => bind.state === 'bound'),
  )
  return down.map(({ name, binds }) => {
    const sinceMs = binds.flatMap(({ since }) => (since === null ? [] : [Date.parse(since)]))
    const error = binds.flatMap(({ errors }) => errors)[0]
    const why =
      error === undefined ? '' : `: ${[error.error, error.status ?? error.detail].filter(Boolean).join(', ')}`
    return {
      name: 'carrier-unbound',
      object: name,
      since: new Date(sinceMs.length === 0 ? nowMs : Math.max(...sinceMs)),
      value: binds.length,
      summary: `Carrier ${name} is not bound${why}`,
      ...(binds.some(({ state }) => state === 'unreported') && { isUncertain: true }),
    }
  })
}

/** By route, the oldest message in the database or in the memory of a node. */
function waitingMessages(scene: AlarmScene): AlarmCondition[] {
  const { backlog, nowMs, backlogSeconds } = scene
  const late = [...heldMessages(scene), ...backlog.waiting].filter(
    ({ oldestMs }) => nowMs - oldestMs > backlogSeconds * 1_000,
  )
  return [...Map.groupBy(late, ({ route }) => route ?? '')].map(([route, rows]) => {
    const oldest = rows.reduce((a, b) => (b.oldestMs < a.oldestMs ? b : a))
    const seconds = Math.floor((nowMs - oldest.oldestMs) / 1_000)
    const of = route === '' ? 'Messages without a route' : `Messages of route ${route}`
    return {
      name: 'messages-wait',
      object: route,
      since: new Date(oldest.oldestMs + backlogSeconds * 1_000),
      value: seconds,
      summary: `${of} wait, the oldest for ${seconds} s (${oldest.cause})`,
    }
  })
}

function heldMessages({ held, directory }: AlarmScene) {
  if (held.length === 0) return []
  const names = new Map(directory.contents.routes.map(({ id, name }) => [id, name]))
  return held.map(({ routeId, cause, oldestMsgId }) => ({
    route: names.get(routeId) ?? null,
    cause,
    oldestMs: createdAtMs(oldestMsgId),
  }))
}

function openBreakers({ backlog: { destinations }, directory }: AlarmScene): AlarmCondition[] {
  const open = destinations.filter(({ state }) => state === 'open')
  return open.map(({ planId, destination, since, error, count }) => ({
    name: 'breaker-open',
    object: `${directory.planById(planId)?.servicePlanId ?? planId} ${destination}`,
    since,
    value: count,
    summary: `${destination} takes no webhooks${error === null ? '' : `: ${error}`}; ${count} wait`,
  }))
}

function carriersBelowFloor({ pauses }: AlarmScene): AlarmCondition[] {
  return pauses.map(({ route, carrier, since, reason }) => ({
    name: 'floor-reached',
    object: `${route} ${carrier}`,
    since,
    value: null,
    summary: `Carrier ${carrier} is out of use in route ${route}: ${reason}`,
  }))
}

function missingReceipts({ receipts, nowMs }: AlarmScene): AlarmCondition[] {
  const bad = receipts.filter(
    ({ sent, missing }) => missing >= LEAST_MISSING && missing >= LEAST_MISSING_SHARE * sent,
  )
  return bad.map(({ carrier, sent, missing }) => ({
    name: 'receipts-missing',
    object: carrier,
    since: new Date(nowMs),
    value: missing,
    summary: `${missing} of ${sent} messages sent over carrier ${carrier} 10 to 70 minutes ago have no final receipt`,
  }))
}

/** A cap that was raised since, or whose day or month is over, is none. */
function reachedCaps({ usedCaps, directory, nowMs }: AlarmScene): AlarmCondition[] {
  return usedCaps.flatMap(({ planId, at, contents }) => {
    if (contents.type !== 'capReached') return []
    const { unit, step, most, begins } = contents
    const plan = directory.planById(planId)
    if (plan?.caps == null || periodAt(step, nowMs).begins !== begins) return []
    const isSame = (cap: Cap) => cap.unit === unit && cap.step === step && cap.most === most
    if (!capsOf(plan.caps).some(isSame)) return []
    const object = `${plan.servicePlanId} ${unit} ${step}`
    const summary = `Plan ${plan.servicePlanId} has used ${describeLimitEvent(contents)}, and its sends are refused`
    return [{ name: 'cap-reached', object, since: at, value: null, summary }]
  })
}

function unownedInbound({ unowned }: AlarmScene): AlarmCondition[] {
  if (unowned === null) return []
  const { count, since } = unowned
  const summary = `Inbound messages of the last hour for numbers that no plan owns: ${count}`
  return [{ name: 'unowned-inbound', object: '', since, value: count, summary }]
}

export type AlarmKey = Pick<AlarmCondition, 'name' | 'object'>

export interface AlarmDelays {
  /**
   * How long a condition lasts before it raises an alarm, and how long it is gone before the alarm is cleared. A condition
   * that is gone for less than `clearAfterMs` has not ended: the times in which it was there add up.
   */
  readonly raiseAfterMs: number
  readonly clearAfterMs: number
}

/** When a condition, or alarm, was seen first and last, and how long it was gone between. */
interface Sighting {
  readonly firstMs: number
  lastMs: number
  goneMs: number
  /** Since when it is gone; null: it is there. */
  missedMs: number | null
}

/** Decides when conditions raise and clear alarms, so that one that comes and goes raises one. */
export class AlarmJudge {
  readonly #delays: AlarmDelays
  readonly #seen = new Map<string, Sighting>()

  constructor(delays: AlarmDelays) {
    this.#delays = delays
  }

  /** `raised`: the alarms that are raised now. */
  judge<Raised extends AlarmKey>(
    conditions: readonly AlarmCondition[],
    raised: readonly Raised[],
    nowMs: number,
  ): { raise: AlarmCondition[]; clear: Raised[] } {
    const { raiseAfterMs, clearAfterMs } = this.#delays
    const present = new Map(conditions.map((condition) => [keyOf(condition), condition]))
    const known = new Set(raised.map(keyOf))
    for (const [key, { lastMs }] of this.#seen)
      if (!known.has(key) && nowMs - lastMs >= clearAfterMs) this.#seen.delete(key)
    for (const key of new Set([...present.keys(), ...known, ...this.#seen.keys()])) {
      const seen = this.#seen.get(key) ?? { firstMs: nowMs, lastMs: nowMs, goneMs: 0, missedMs: null }
      this.#seen.set(key, seen)
      if (present.has(key)) {
        if (seen.missedMs !== null) seen.goneMs += nowMs - seen.missedMs
        seen.missedMs = null
        seen.lastMs = nowMs
      } else seen.missedMs ??= nowMs
    }
    return {
      raise: conditions.flatMap((condition) => {
        const { firstMs, goneMs } = this.#seen.get(keyOf(condition))!
        if (known.has(keyOf(condition)) || condition.isUncertain) return []
        const sinceMs = condition.since.getTime()
        const lastedMs = Math.max(nowMs - firstMs - goneMs, nowMs - sinceMs)
        return lastedMs >= raiseAfterMs ? [{ ...condition, since: new Date(Math.min(firstMs, sinceMs)) }] : []
      }),
      clear: raised.filter((alarm) => {
        const isGone =
          nowMs - this.#seen.get(keyOf(alarm))!.lastMs >= clearAfterMs && !present.has(keyOf(alarm))
        // If it comes back, it has to last again.
        if (isGone) this.#seen.delete(keyOf(alarm))
        return isGone
      }),
    }
  }
}

function keyOf({ name, object }: AlarmKey): string {
  return `${name} ${object}`
}

/** An alarm as its receiver is told of it. */
export interface Alarm extends AlarmCondition {
  /** UUID. */
  readonly alarmId: string
  readonly state: 'raised' | 'cleared'
  readonly raisedAt: Date
  readonly clearedAt: Date | null
}

/** The body of its webhook. `installation`: BASE_URL. */
export function alarmBody(alarm: Alarm, installation: string | null): string {
  const { alarmId, name, state, object, summary, value, since, raisedAt, clearedAt } = alarm
  const fields = { alarmId, name, state, object, summary, value, since, raisedAt, clearedAt }
  return JSON.stringify({ type: 'alarm', ...fields, whatToDo: whatToDo(name), installation })
}

/** The body of an alarm that an operator sends to try the receiver. */
export function testAlarmBody(alarmId: string, now: Date, installation: string | null): string {
  return JSON.stringify({
    type: 'alarm',
    alarmId,
    name: 'test',
    state: 'raised',
    object: '',
    summary: 'An operator tests the receiver of alarms',
    value: null,
    since: now,
    raisedAt: now,
    clearedAt: null,
    whatToDo: 'nothing; this alarm is never cleared (docs/alarms.md#test-the-receiver)',
    installation,
  })
}
