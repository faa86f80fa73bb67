/** A destination (scheme, host and port) of one plan: what has its own queue, breaker and pause. */
export interface Endpoint {
  readonly planId: number
  readonly destination: string
}

export function endpointKey({ planId, destination }: Endpoint): string {
  return `${planId} ${destination}`
}
