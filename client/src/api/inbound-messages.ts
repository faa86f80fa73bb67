// Made from the OpenAPI document by `npm run generate-client`.

import type { InboundSmsWebhook, Pagination } from './several-tags.ts'

export interface InboundMessageList {
  items: InboundSmsWebhook[]
  pagination: Pagination
}

/** Each operation: its input, and its answer when it succeeds. */
export interface InboundMessagesOperations {
  /** Get an inbound message. The message as it is pushed to the inbound URL, whether or not there is one. */
  getInboundMessage: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: InboundSmsWebhook
  }
  /** List inbound messages, newest first. Needs servicePlanId and at least one filter or a cursor. */
  listInboundMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Number it was sent to. */
      to?: string | undefined
      /** Keyword it matched, in any case. */
      keyword?: string | undefined
      /** Start of the receivedAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: InboundMessageList
  }
}
