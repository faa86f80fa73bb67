// Made from the OpenAPI document by `npm run generate-client`.

export interface InspectedInboundMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  carrier: string | null
  from: string
  to: string
  keyword: string | null
  body: string
  /** Parts of a long message that came; 1: a short message. */
  parts: number
  /** Parts in which it was sent; more than parts: some did not come. */
  partsExpected: number
  receivedAt: string
}

export interface InspectedInboundMessagePage {
  items: InspectedInboundMessage[]
  nextAfter: string | null
}

export interface UnownedInboundMessage {
  msgId: string
  carrier: string | null
  from: string
  to: string
  body: string
  /** Parts of a long message that came; 1: a short message. */
  parts: number
  /** Parts in which it was sent; more than parts: some did not come. */
  partsExpected: number
  receivedAt: string
}

export interface UnownedInboundMessageGift {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
}

export interface UnownedInboundMessagePage {
  items: UnownedInboundMessage[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface InboundMessageSearchOperations {
  /** List the inbound messages of a service plan. Newest first. */
  listInboundMessagesOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender, in the form that its carrier uses. */
      from?: string | undefined
      /** E.164 number or short code. */
      to?: string | undefined
      /** One word, matched in any case. */
      keyword?: string | undefined
      /** Start of the window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive. */
      toDate?: string | undefined
    }
    answer: InspectedInboundMessagePage
  }
  /** Show an inbound message. Returns the message and the carrier that delivered it. */
  getInboundMessageOfPlan: {
    input: {
      /** UUID of the message. */
      msgId: string
    }
    answer: InspectedInboundMessage
  }
  /** List unowned inbound messages. Messages to numbers that no service plan has, newest first. */
  listUnownedInboundMessages: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: UnownedInboundMessagePage
  }
  /** Give an unowned inbound message to a service plan. The message keeps its id, appears among those of the plan, and is pushed to its inbound URL. STOP, START and HELP in it are not obeyed. */
  giveUnownedInboundMessage: {
    input: {
      /** UUID of the message. */
      msgId: string
    } & UnownedInboundMessageGift
    answer: undefined
  }
}
