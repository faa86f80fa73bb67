// Made from the OpenAPI document by `npm run generate-client`.

export interface InboundNumber {
  number: string
  servicePlanId: string
  keywords: string[]
  createdAt: string
}

export interface InboundNumberChange {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId?: string | undefined
  /** Keywords that are reported with a message; empty: none. */
  keywords?: string[] | undefined
}

export interface InboundNumberCreation {
  /** E.164 number or short code. */
  number: string
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Keywords that are reported with a message; empty: none. */
  keywords?: string[] | undefined
}

export interface InboundNumberPage {
  items: InboundNumber[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface InboundNumbersOperations {
  /** Create an inbound number. Messages to this number belong to the service plan. */
  createInboundNumber: { input: InboundNumberCreation; answer: InboundNumber }
  /** List inbound numbers. Sorted by name or number. */
  listInboundNumbers: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
    }
    answer: InboundNumberPage
  }
  /** Show an inbound number. Returns its service plan and its keywords. */
  getInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    }
    answer: InboundNumber
  }
  /** Update an inbound number. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    } & InboundNumberChange
    answer: InboundNumber
  }
  /** Delete an inbound number. Messages to it belong to nobody from now on; they are kept as unowned. */
  deleteInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    }
    answer: undefined
  }
}
