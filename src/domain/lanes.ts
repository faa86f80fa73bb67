/** A plan's events for one destination (scheme, host and port). */
export interface Lane {
  readonly planId: number
  readonly destination: string
}

/** Unique for each lane. */
export function laneKey({ planId, destination }: Lane): string {
  return `${planId} ${destination}`
}
