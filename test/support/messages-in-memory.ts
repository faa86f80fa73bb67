/** Messages as a node has them in memory, by the facts that its journal says of them. */

import { createdAtMs } from '../../src/domain/identifiers.ts'
import type {
  Accepted,
  Evidence,
  JournalReceipt,
  LaterFact,
  Settled,
  Submitted,
} from '../../src/domain/journal/message-facts.ts'
import {
  addFact,
  type MessageInProgress,
  messageInProgress,
} from '../../src/domain/journal/messages-in-progress.ts'
import type { Projected } from '../../src/store/records.ts'
import { CARRIER_ID, newId } from './installation.ts'

export function acceptedFact(planId: number, msgId: string, changes: Partial<Accepted> = {}): Accepted {
  return {
    kind: 'accepted',
    planId,
    sender: 'Aldis',
    recipient: '+15551230000',
    body: 'hello',
    segments: 1,
    country: 'US',
    callbackUrl: 'https://example.com/dlr',
    optedOut: false,
    discardsText: false,
    begun: false,
    routeId: 0,
    expiresAtMs: createdAtMs(msgId) + 86_400_000,
    ...changes,
  }
}

export function settledFact(atMs: number, changes: Partial<Settled> = {}): Settled {
  return {
    kind: 'settled',
    atMs,
    status: 'SENT',
    errorCode: '000',
    carrierCode: null,
    carrierId: CARRIER_ID,
    routeId: null,
    routeReason: null,
    segments: null,
    segmentation: null,
    mccmnc: null,
    charge: null,
    ...changes,
  }
}

export function submittedFact(
  carrierMessageId: string,
  segment = 0,
  segmentation: string | null = null,
): Submitted {
  const answer = { atMs: Date.UTC(2026, 0, 2), latencyMs: 12 }
  return { kind: 'submitted', ...answer, carrierId: CARRIER_ID, carrierMessageId, segment, segmentation }
}

export function evidenceOf(
  carrierMessageId: string,
  atMs: number,
  changes: Partial<Evidence> = {},
): Evidence {
  return {
    carrierId: CARRIER_ID,
    carrierMessageId,
    receivedAt: new Date(atMs).toISOString(),
    matchedAtMs: null,
    outcome: 'DELIVERED',
    errorCode: '000',
    kept: { text: `id:${carrierMessageId}`, tlvs: { message_state: '2' } },
    ...changes,
  }
}

export function receiptFact(
  carrierMessageId: string,
  atMs: number,
  changes: Partial<Omit<JournalReceipt, 'kind'>> = {},
): JournalReceipt {
  return {
    kind: 'receipt',
    atMs,
    outcome: 'DELIVERED',
    segmentBits: 1n,
    segmentation: null,
    errorCode: '000',
    carrierCode: 'DELIVRD 000',
    mccmnc: null,
    segmentCharge: null,
    evidence: evidenceOf(carrierMessageId, atMs),
    ...changes,
  }
}

/** Its receiver has taken an event. */
export function takenFact(sequence: number, atMs: number): LaterFact {
  return {
    kind: 'event-taken',
    sequence,
    attemptedAtMs: atMs,
    latencyMs: 12,
    responseStatus: 200,
    responseHead: 'ok',
    destination: 'https://example.com',
  }
}

/** A message that was accepted a second ago, and what happened to it then. */
export function inMemory(
  planId: number,
  facts: (msgId: string, atMs: number) => readonly LaterFact[] = () => [],
  changes: Partial<Accepted> = {},
  msgId = newId(Date.now() - 1_000),
): MessageInProgress {
  const message = messageInProgress(msgId, acceptedFact(planId, msgId, changes))
  for (const fact of facts(msgId, createdAtMs(msgId) + 1)) addFact(message, fact)
  return message
}

/** Sent and delivered, under its own id. */
export function deliveredFacts(msgId: string, atMs: number): LaterFact[] {
  return [
    { kind: 'begun', atMs },
    { ...submittedFact(msgId), atMs },
    settledFact(atMs),
    takenFact(1, atMs + 1),
    receiptFact(msgId, atMs + 2),
    takenFact(2, atMs + 3),
  ]
}

export function projected(message: MessageInProgress, changes: Partial<Projected> = {}): Projected {
  return { message, holder: null, delivers: true, ...changes }
}
