// Made from the OpenAPI document by `npm run generate-client`.

export interface CarrierQuality {
  route: string
  carrier: string
  /** submit_sm, one for each segment. */
  submits: SubmitFigures
  messages: MessageFigures
  outOfUseUntil: string | null
}

export interface MessageFigures {
  sent: number
  delivered: number
  failed: number
  unknown: number
  /** sent more than 10 minutes ago, without a final receipt. */
  missing: number
  /** percent of those with a final receipt. */
  deliveryRate: number | null
  receiptLatencyMs: {
    p50: number | null
    p95: number | null
  }
}

export interface Quality {
  from: string
  to: string
  items: CarrierQuality[]
  /** more than 1000 carriers in routes: those with most traffic. */
  truncated: boolean
  /** totals of everything selected, by minute, beyond 180 minutes by hour. */
  series?: QualityPoint[] | undefined
}

export interface QualityPause {
  route: string
  carrier: string
  since: string
  until: string
  reason: string
}

export interface QualityPauses {
  items: QualityPause[]
}

export interface QualityPoint {
  at: string
  /** submit_sm, one for each segment. */
  submits: SubmitFigures
  messages: MessageFigures
}

export interface SubmitFigures {
  total: number
  accepted: number
  refused: number
  throttled: number
  noAnswer: number
  latencyMs: {
    p50: number | null
    p95: number | null
    max: number | null
  }
}

/** Each operation: its input, and its answer when it succeeds. */
export interface QualityOperations {
  /** Show the quality of carriers. Returns the answers, receipts and latencies of each carrier in each route. */
  getQuality: {
    input: {
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Route, by name or number. */
      route?: string | undefined
      /** How many minutes to look back, at most 10,000; default: 60. */
      minutes?: string | undefined
      /** Show totals over time, for everything selected. */
      series?: 'true' | 'false' | undefined
    }
    answer: Quality
  }
  /** List quality pauses. Returns the carriers that the quality floor of a route has taken out of use. */
  listQualityPauses: { input: Record<string, never>; answer: QualityPauses }
  /** Delete a quality pause. The pause ends: the route uses the carrier again, and judges it by messages sent since. */
  endQualityPause: {
    input: {
      /** Name or number. */
      route: string
      /** Name or number. */
      carrier: string
    }
    answer: undefined
  }
}
