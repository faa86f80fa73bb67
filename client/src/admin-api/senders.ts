// Made from the OpenAPI document by `npm run generate-client`.

export interface Sender {
  servicePlanId: string
  sender: string
  status: string
  createdAt: string
}

export interface SenderPage {
  items: Sender[]
  nextAfter: string | null
}

export interface SenderSetting {
  /** approved, pending or denied. */
  status: string
  /** Accept any other status; messages from this sender are refused while it is set. */
  force?: boolean | undefined
}

/** Each operation: its input, and its answer when it succeeds. */
export interface SendersOperations {
  /** List the senders of a service plan. Sorted by name or number. */
  listSenders: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: SenderPage
  }
  /** Show a sender subscription. Returns the status of the sender for this service plan. */
  getSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    }
    answer: Sender
  }
  /** Create or replace a sender subscription. The service plan may use the sender while the status is approved; pending and denied are the others. */
  setSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    } & SenderSetting
    answer: Sender
  }
  /** Delete a sender subscription. The service plan may not send from this sender any more. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  deleteSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    }
    answer: undefined
  }
}
