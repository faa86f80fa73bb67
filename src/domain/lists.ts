import { type Fault, fault } from '../errors.ts'
import { INBOUND_NUMBER, INBOUND_SENDER, KEYWORD, MCCMNC } from './configuration/configuration.ts'
import { EVENT_STATES, type EventState } from './events.ts'
import { isUuid } from './identifiers.ts'
import { DAY_MS, parseTimestamp } from './instants.ts'
import { classifySender, isE164 } from './messages/addresses.ts'
import { MESSAGE_STATUSES, type Status } from './messages/messages.ts'
import { normalizeCountry } from './routing/recipients.ts'
import { decrypt, encrypt } from './secrets.ts'
import { isDestination } from './webhooks/targets.ts'

/**
 * Filters of the lists of messages, inbound messages and events, windows of time, and the cursors that continue a list. Other
 * lists of operators check their filters by the schemas of their routes.
 */

/** A window of time, in Unix milliseconds, both ends inclusive; null is open. */
export interface DateWindow {
  readonly fromDate: number | null
  readonly toDate: number | null
}

/** How the text of a filter becomes its canonical value; null when it is not valid. `meaning`: what the fault then says. */
interface FilterRule<Value> {
  readonly parse: (text: string) => Value | null
  readonly meaning: string
}

/** The filters of a list, in the order in which their faults are listed. */
export type FilterRules<Filters> = {
  readonly [Name in keyof Filters]-?: FilterRule<NonNullable<Filters[Name]>>
}

export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Exactly 31 days are allowed. */
const MAX_WINDOW_MS = 31 * DAY_MS

export const DATE_MEANING = 'must be an RFC 3339 date and time with offset'
export const WINDOW_RULES: FilterRules<DateWindow> = {
  fromDate: { parse: (text) => parseTimestamp(text, 'up'), meaning: DATE_MEANING },
  toDate: { parse: (text) => parseTimestamp(text, 'down'), meaning: DATE_MEANING },
}

export function matching(pattern: RegExp, meaning: string): FilterRule<string> {
  return { parse: (text) => (pattern.test(text) ? text : null), meaning }
}

function oneOf<Value extends string>(values: readonly Value[]): FilterRule<Value> {
  return {
    parse: (text) => values.find((value) => value === text) ?? null,
    meaning: `must be one of ${values.join(', ')}`,
  }
}

const SENDER_RULE: FilterRule<string> = {
  parse: (text) => (classifySender(text) === null ? null : text),
  meaning: 'must be a short code, an E.164 number or an alphanumeric sender',
}

/** Filters from their texts, each by its own rule; absent ones are null. Faults are added to the list. */
export function parseFilters<Filters extends object>(
  rules: FilterRules<Filters>,
  texts: Readonly<Partial<Record<keyof Filters, unknown>>>,
  faults: Fault[],
): Filters {
  const filters = Object.entries<FilterRule<unknown>>(rules).map(([name, { parse, meaning }]) => {
    const text = texts[name as keyof Filters]
    const value = typeof text === 'string' ? parse(text) : null
    if (text !== undefined && value === null) faults.push(fault(name, 'INVALID_FORMAT', meaning))
    return [name, value]
  })
  return Object.fromEntries(filters) as Filters
}

/** Faults of filters that are repeated with a cursor: each must equal the cursor's. */
export function contradictions<Filters extends object>(carried: Filters, repeated: Filters): Fault[] {
  return (Object.keys(repeated) as (keyof Filters & string)[])
    .filter((name) => repeated[name] !== null && repeated[name] !== carried[name])
    .map((name) => fault(name, 'CURSOR_MISMATCH', 'must equal the filter the cursor was made with'))
}

const REVERSED = fault('fromDate', 'INVALID_RANGE', 'must not be after toDate')

/** Filters with a window, from their texts. Faults are added to the list, that of a reversed window too. */
export function parseWindowed<Filters extends DateWindow>(
  rules: FilterRules<Filters>,
  texts: Readonly<Partial<Record<keyof Filters, string | undefined>>>,
  faults: Fault[],
): Filters {
  const filters = parseFilters(rules, texts, faults)
  const { fromDate, toDate } = filters
  if (fromDate !== null && toDate !== null && fromDate > toDate) faults.push(REVERSED)
  return filters
}

/** Faults of a window whose ends, if they are given and each is valid, do not belong together. */
export function windowFaults({ fromDate, toDate }: { fromDate?: unknown; toDate?: unknown }): Fault[] {
  if (typeof fromDate !== 'string' || typeof toDate !== 'string') return []
  const firstMs = parseTimestamp(fromDate, 'up')
  const lastMs = parseTimestamp(toDate, 'down')
  // Both ends are rounded down: a start rounded up could lie beyond an end in the same millisecond, which is empty and not
  // wrong.
  const startMs = parseTimestamp(fromDate, 'down')
  if (firstMs === null || lastMs === null || startMs === null) return []
  if (startMs > lastMs) return [REVERSED]
  if (lastMs - firstMs <= MAX_WINDOW_MS) return []
  return [fault('toDate', 'RANGE_TOO_LARGE', 'must be at most 31 days after fromDate')]
}

/** A window of any length, of a request whose fields are known to be texts. Faults are added to the list. */
export function parseWindow(
  texts: Partial<Readonly<Record<keyof DateWindow, string>>>,
  faults: Fault[],
): DateWindow {
  return parseWindowed(WINDOW_RULES, texts, faults)
}

/** Filters of the message list, canonical: null is not filtered. */
export interface MessageFilters extends DateWindow {
  readonly from: string | null
  readonly to: string | null
  readonly status: Status | null
  readonly country: string | null
  readonly mccmnc: string | null
}

/** Applied to messages at rest by store/message-list.ts, and to those in progress by `isWanted` in messages/message-search.ts. */
export const MESSAGE_FILTERS: FilterRules<MessageFilters> = {
  from: SENDER_RULE,
  to: { parse: (text) => (isE164(text) ? text : null), meaning: 'must be an E.164 number' },
  status: oneOf(MESSAGE_STATUSES),
  country: { parse: normalizeCountry, meaning: 'must be an ISO 3166-1 alpha-2 code' },
  mccmnc: matching(MCCMNC, 'must be 5 or 6 digits'),
  ...WINDOW_RULES,
}

/** Filters of the list of inbound messages, canonical: null is not filtered. The window is of receivedAt. */
export interface InboundFilters extends DateWindow {
  readonly from: string | null
  readonly to: string | null
  /** Compared without regard to case. */
  readonly keyword: string | null
}

export const INBOUND_FILTERS: FilterRules<InboundFilters> = {
  from: matching(INBOUND_SENDER, 'must have 1 to 64 printable characters and no space at the ends'),
  to: matching(INBOUND_NUMBER, 'must be an E.164 number or 3 to 8 digits'),
  keyword: matching(KEYWORD, 'must be one word of at most 32 characters'),
  ...WINDOW_RULES,
}

/** Filters of the list of events, canonical: null is not filtered. The window is of createdAt of the events' messages. */
export interface EventFilters extends DateWindow {
  readonly state: EventState | null
  readonly msgId: string | null
  /** An undelivered event has one only after an attempt has failed, or the event was parked because of the destination. */
  readonly destination: string | null
}

export const DESTINATION_MEANING = 'must be scheme, host and port, as in https://example.com:8443'

export const EVENT_FILTERS: FilterRules<EventFilters> = {
  state: oneOf(EVENT_STATES),
  msgId: { parse: (text) => (isUuid(text) ? text.toLowerCase() : null), meaning: 'must be a UUID' },
  destination: { parse: (text) => (isDestination(text) ? text : null), meaning: DESTINATION_MEANING },
  ...WINDOW_RULES,
}

/** The filters of a request whose fields are known to be texts, whatever window they name. Faults are added to the list. */
export function parseEventFilters(
  texts: Partial<Readonly<Record<keyof EventFilters, string>>>,
  faults: Fault[],
): EventFilters {
  return parseWindowed(EVENT_FILTERS, texts, faults)
}

/** Filter of the event feed: only what happened at or after `since`, Unix milliseconds; null: all that is kept. */
export interface FeedFilters {
  readonly since: number | null
}

export const FEED_FILTERS: FilterRules<FeedFilters> = {
  since: { parse: (text) => parseTimestamp(text, 'up'), meaning: DATE_MEANING },
}

/** Lists that are paged by cursor. A cursor of one list does not open another. */
export type ListName = 'messages' | 'inbound-messages' | 'events' | 'destinations' | 'senders' | 'feed'

/** A part of a list, in the list's order. */
export interface Page<Filters, Position> {
  readonly planId: number
  /** Canonical: equal queries have equal filters. */
  readonly filters: Filters
  /** Items at most. */
  readonly limit: number
  /** The page begins after this item of the page before; null for the first page. */
  readonly after: Position | null
}

/** Where a list continues. All of it is JSON. */
export interface Cursor<Filters, Position> extends Page<Filters, Position> {
  readonly list: ListName
  readonly after: Position
  /** Unix milliseconds; null: never. */
  readonly expiresAtMs: number | null
}

/** First byte of every cursor, and the context of its seal; another form of the contents gets another number. */
const CURSOR_VERSION = 2
const CURSOR_CONTEXT = String.fromCharCode(CURSOR_VERSION)
/** The longest sealed cursor has some 900 characters: a filter by a callback's host and port. */
const MAX_CURSOR_LENGTH = 2048

/**
 * Seals a cursor, so that it can be neither read nor changed: base64url of the version and the sealed JSON. `key` has 32
 * bytes; `iv` 12, never used twice with one key.
 */
export function sealCursor(cursor: Cursor<unknown, unknown>, key: Uint8Array, iv: Uint8Array): string {
  const sealed = encrypt(key, JSON.stringify(cursor), iv, CURSOR_CONTEXT)
  return Buffer.concat([Buffer.of(CURSOR_VERSION), sealed]).toString('base64url')
}

/**
 * Opens a cursor sealed with any of the keys. Null when it was tampered with, is not a cursor, belongs to another list or
 * plan, or has expired. The caller knows the types of the list's filters and positions.
 */
export function openCursor<Filters, Position>(
  text: string,
  of: { readonly list: ListName; readonly planId: number },
  keys: readonly Uint8Array[],
  nowMs: number,
): Cursor<Filters, Position> | null {
  if (text.length > MAX_CURSOR_LENGTH) return null
  const bytes = Buffer.from(text, 'base64url')
  // Only the canonical text: decoding skips characters outside base64url, and the unused bits of the last one.
  if (bytes.toString('base64url') !== text) return null
  if (bytes[0] !== CURSOR_VERSION) return null
  for (const key of keys) {
    const json = decrypt(key, bytes.subarray(1), CURSOR_CONTEXT)
    if (json === null) continue
    const cursor = JSON.parse(json) as Cursor<Filters, Position>
    const isExpired = cursor.expiresAtMs !== null && cursor.expiresAtMs <= nowMs
    return cursor.list === of.list && cursor.planId === of.planId && !isExpired ? cursor : null
  }
  return null
}
