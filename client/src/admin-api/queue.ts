// Made from the OpenAPI document by `npm run generate-client`.

export interface Queue {
  /** when the database was read; at most every 10 s. */
  countedAt: string
  messages: WaitingMessages[]
  webhooks: WaitingWebhooks[]
  destinations: TroubledDestination[]
  /** whether more wait in the database than were counted. */
  truncated: {
    messages: boolean
    webhooks: boolean
  }
}

export interface TroubledDestination {
  servicePlanId: string
  /** scheme, host and port. */
  destination: string
  /** open, paused or recovering. */
  state: string
  since: string
  error: string | null
  /** events that wait for it. */
  count: number
  oldestAt: string | null
}

export interface WaitingMessages {
  /** memory: of the node that answers; database: of all nodes. */
  place: string
  route: string | null
  /** the carrier chosen for it, or that of its last attempt. */
  carrier: string | null
  /** why they wait. */
  cause: string
  count: number
  /** when the oldest was accepted. */
  oldestAt: string
}

export interface WaitingWebhooks {
  /** why they wait. */
  cause: string
  count: number
  oldestAt: string
}

/** Each operation: its input, and its answer when it succeeds. */
export interface QueueOperations {
  /** Show the backlog. Returns the waiting messages by route, carrier and cause, and the waiting webhooks by cause. */
  getQueue: { input: Record<string, never>; answer: Queue }
}
