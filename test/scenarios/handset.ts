import { INBOUND_NUMBER } from '../support/service.ts'
import type { DeliverFields } from '../support/smsc.ts'

let people = 0

/** A number that nobody else has in this file. */
export function somebody(): string {
  people += 1
  return `+1555000${5000 + people}`
}

/** A deliver_sm with a message of this sender to the number that the plan owns. */
export function moOf(from: string, short_message: Buffer, more: DeliverFields = {}): DeliverFields {
  return {
    source_addr_ton: 1,
    source_addr: from.slice(1),
    dest_addr_ton: 1,
    destination_addr: INBOUND_NUMBER.slice(1),
    short_message,
    ...more,
  }
}
