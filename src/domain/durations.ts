export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The share by which a delay varies, so that what failed together is not retried together. */
export const JITTER = 0.2

/** The delay, 20 % shorter to 20 % longer. `random`: 0 to 1. */
export function jittered(delayMs: number, random: number): number {
  return Math.round(delayMs * (1 - JITTER + 2 * JITTER * random))
}
