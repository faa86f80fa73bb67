// Made from the OpenAPI document by `npm run generate-client`.

export interface ExplainedCarrier {
  carrier: string
  priority: number
  weight: number
  /** on this node: usable, throttled, out-of-use, silent, unbound, draining, stopped. */
  condition: string
  /** percentage of the messages that it currently gets. */
  share: number
  /** as it is stored with a message. */
  reason: string | null
}

export interface ExplainedCharge {
  price: string
  ptf: string
  currency: string
  rate: ExplainedRate
}

export interface ExplainedRate {
  rateId: number
  servicePlanId: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
}

export interface ExplainedRule {
  ruleId: number
  servicePlanId: string | null
  from: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
}

export interface QualityFloor {
  /** percent of the messages with a receipt. */
  minDelivered: number
  /** how many minutes to look back; default: 60. */
  windowMinutes: number
  /** fewer messages are not judged; default: 100. */
  minMessages: number
  /** how many minutes the carrier is out of use; default: 30. */
  pauseMinutes: number
}

export interface QualityFloorSetting {
  /** percent of the messages with a receipt. */
  minDelivered: number
  /** how many minutes to look back; default: 60. */
  windowMinutes?: number | undefined
  /** fewer messages are not judged; default: 100. */
  minMessages?: number | undefined
  /** how many minutes the carrier is out of use; default: 30. */
  pauseMinutes?: number | undefined
}

export interface Route {
  routeId: number
  name: string
  carriers: RouteCarrier[]
  /** null: no carrier is taken out of use for its delivery rate. */
  qualityFloor: QualityFloor | null
  createdAt: string
}

export interface RouteCarrier {
  carrier: string
  /** lowest first; default: 0. */
  priority: number
  /** share among equal priorities; default: 1. */
  weight: number
}

export interface RouteCarrierSetting {
  /** Name. */
  carrier: string
  /** lowest first; default: 0. */
  priority?: number | undefined
  /** share among equal priorities; default: 1. */
  weight?: number | undefined
}

export interface RouteChange {
  /** Name. */
  name?: string | undefined
  /** Its carriers; empty: no carrier. */
  carriers?: RouteCarrierSetting[] | undefined
  /** Take a carrier out of use when it delivers less than this percentage; null: never take one out of use. */
  qualityFloor?: QualityFloorSetting | null | undefined
}

export interface RouteCreation {
  /** Name. */
  name: string
  /** Its carriers; empty: no carrier. */
  carriers: RouteCarrierSetting[]
  /** Take a carrier out of use when it delivers less than this percentage; null: never take one out of use. */
  qualityFloor?: QualityFloorSetting | null | undefined
}

export interface RouteExplanation {
  servicePlanId: string
  from: string
  to: string
  country: string | null
  /** of the number ranges. */
  mccmnc: string | null
  /** why a send would be refused, or would fail at once. */
  problems: SendProblem[]
  route: string | null
  /** null: the route is the plan's own. */
  rule: ExplainedRule | null
  carriers: ExplainedCarrier[]
  encoding: string | null
  segments: number
  charge: ExplainedCharge | null
}

export interface RoutePage {
  items: Route[]
  nextAfter: string | null
}

export interface SendProblem {
  errorCode: string
  errorMessage: string
}

/** Each operation: its input, and its answer when it succeeds. */
export interface RoutesOperations {
  /** Create a route. A route lists carriers by priority and weight. Service plans and routing rules lead to routes. */
  createRoute: { input: RouteCreation; answer: Route }
  /** List routes. Sorted by name or number. */
  listRoutes: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Name of a carrier that they have. */
      carrier?: string | undefined
    }
    answer: RoutePage
  }
  /** Show a route. Returns its carriers and its quality floor. */
  getRoute: {
    input: {
      /** Name or number. */
      route: string
    }
    answer: Route
  }
  /** Update a route. Omitted fields keep their values. The carriers given replace all of its carriers. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateRoute: {
    input: {
      /** Name or number. */
      route: string
    } & RouteChange
    answer: Route
  }
  /** Delete a route. A route that a service plan or routing rule uses cannot be deleted. */
  deleteRoute: {
    input: {
      /** Name or number. */
      route: string
    }
    answer: undefined
  }
  /** Explain the route of a message. Returns which carrier a message would take, why, and what it would cost. Nothing is sent. */
  explainRoute: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from: string
      /** Recipient. */
      to: string
      /** Text of the message; default: any text of one segment. */
      body?: string | undefined
    }
    answer: RouteExplanation
  }
}
