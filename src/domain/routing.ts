import type { Route } from './directory.ts'

/**
 * The carrier for a message: among the usable ones of the lowest priority number, by weight. `random` 0..1. Null when
 * none is usable.
 */
export function chooseCarrier(
  route: Route,
  isUsable: (carrierId: number) => boolean,
  random: number,
): number | null {
  let lowest = Number.POSITIVE_INFINITY
  let weights = 0
  for (const { carrierId, priority, weight } of route.carriers) {
    if (priority > lowest || !isUsable(carrierId)) continue
    if (priority < lowest) weights = 0
    lowest = priority
    weights += weight
  }
  let left = random * weights
  for (const { carrierId, priority, weight } of route.carriers) {
    if (priority !== lowest || !isUsable(carrierId)) continue
    left -= weight
    if (left < 0) return carrierId
  }
  return null
}
