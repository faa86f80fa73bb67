import { NATIONAL_LANGUAGES, type NationalLanguage } from '../text/gsm-national-tables.ts'
import { formatCommandStatus, type QualityFloor } from './configuration.ts'

/** Settings in the form in which operators give and see them, and as columns. */

export interface RateLimitColumns {
  readonly messagesPerSecond: number | null
  readonly burst: number | null
}

/** As an operator gives it: without its own burst, a limit allows one second's worth at once. */
export interface RateLimitSetting {
  readonly messagesPerSecond: number
  readonly burst?: number
}

export function completeRateLimit(rateLimit: RateLimitSetting | null) {
  return rateLimit && { ...rateLimit, burst: rateLimit.burst ?? rateLimit.messagesPerSecond }
}

/** `rateLimit` of a request as columns; an absent one changes nothing, null lifts the limit. */
export function rateLimitColumns(rateLimit: RateLimitSetting | null | undefined): Partial<RateLimitColumns> {
  if (rateLimit === undefined) return {}
  return { messagesPerSecond: rateLimit?.messagesPerSecond ?? null, burst: rateLimit?.burst ?? null }
}

/** The columns as `rateLimit` in an answer. */
export function rateLimitField({ messagesPerSecond, burst }: RateLimitColumns) {
  return messagesPerSecond === null ? null : { messagesPerSecond, burst: burst ?? messagesPerSecond }
}

/** National language identifiers count from 1. */
export function languageIdentifiers(names: readonly NationalLanguage[]): number[] {
  return names.map((name) => NATIONAL_LANGUAGES.indexOf(name) + 1)
}

export function languageNames(identifiers: readonly number[]): NationalLanguage[] {
  return identifiers.map((identifier) => NATIONAL_LANGUAGES[identifier - 1]!)
}

/** Outcomes by command_status in decimal, as they are stored, by `0x00000045`. */
export function outcomesByHexStatus<T>(outcomes: Readonly<Record<string, T>>): Record<string, T> {
  const entries = Object.entries(outcomes).map(([status, outcome]): [string, T] => [
    formatCommandStatus(Number(status)),
    outcome,
  ])
  return Object.fromEntries(entries)
}

/** A carrier of a route as an operator gives it. */
export interface RouteCarrierSetting {
  readonly carrier: string
  readonly priority?: number
  readonly weight?: number
}

export function completeRouteCarrier(entry: RouteCarrierSetting) {
  return { priority: 0, weight: 1, ...entry }
}

/** A quality floor as an operator gives it. */
export type QualityFloorSetting = Pick<QualityFloor, 'minDelivered'> & Partial<QualityFloor>

/** Over an hour, one bad minute does not condemn a carrier. A pause of half an hour gives it time to recover. */
export function completeFloor(given: QualityFloorSetting | null): QualityFloor | null {
  return given && { windowMinutes: 60, minMessages: 100, pauseMinutes: 30, ...given }
}
