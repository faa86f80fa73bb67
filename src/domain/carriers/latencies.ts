import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'

/** Upper bounds; one more bucket holds anything above. The columns of quality_minutes have this many places. */
export const SUBMIT_LATENCY_BOUNDS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
]
export const RECEIPT_LATENCY_BOUNDS_MS: readonly number[] = [
  ...[0.2, 0.5, 1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 4, 12, 72].map((hours) => hours * HOUR_MS),
]

/** The bucket of a latency: the first whose bound is not below it. */
export function latencyBucket(bounds: readonly number[], latencyMs: number): number {
  let bucket = 0
  while (bucket < bounds.length && latencyMs > bounds[bucket]!) bucket += 1
  return bucket
}

/**
 * The latency in ms below which `share` (0..1) of the counted ones are, interpolated linearly in its bucket. `most` is
 * the greatest latency, if known; otherwise anything above the last bound counts as that bound. Null: none was counted.
 */
export function percentileMs(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
  most = bounds.at(-1)!,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const lower = Math.min(bounds[bucket - 1] ?? 0, most)
      const upper = Math.min(bounds[bucket] ?? most, most)
      return Math.round(lower + (upper - lower) * (left / count))
    }
    left -= count
  }
  return most
}
