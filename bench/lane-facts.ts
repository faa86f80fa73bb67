import { randomBytes } from 'node:crypto'
import { messageId } from '../src/domain/identifiers.ts'
import { encodeEntry } from '../src/domain/journal/entries.ts'
import type { JournalFact } from '../src/domain/journal/message-facts.ts'
import { TEXT } from './tools/requests.ts'

/** An entry of the journal with everything that happens to so many messages of one segment. */
export function entryOf(messages: number): Buffer {
  return encodeEntry(Array.from({ length: messages }, () => factsOfMessage(Date.now())).flat())
}

/** From its acceptance to its second webhook. */
export function factsOfMessage(atMs: number, planId = 1): JournalFact[] {
  const msgId = messageId(atMs, randomBytes(10), 7)
  const carrierMessageId = msgId.slice(-12)
  const none = { segmentation: null, mccmnc: null }
  const facts: JournalFact['fact'][] = [
    {
      ...{ kind: 'accepted', planId, sender: 'Aldis', recipient: '+15551230000', body: TEXT, segments: 1 },
      ...{
        country: 'US',
        callbackUrl: 'http://127.0.0.1:9000/receipts',
        optedOut: false,
        discardsText: false,
      },
      ...{ begun: true, routeId: 1, expiresAtMs: atMs + 86_400_000 },
    },
    { kind: 'submitted', atMs, latencyMs: 3, carrierId: 1, carrierMessageId, segment: 0, segmentation: null },
    {
      ...{
        kind: 'settled',
        atMs,
        status: 'SENT',
        errorCode: '000',
        carrierCode: null,
        carrierId: 1,
        routeId: 1,
      },
      ...{ routeReason: null, segments: null, charge: null, ...none },
    },
    taken(1, atMs),
    {
      ...{ kind: 'receipt', atMs, outcome: 'DELIVERED', segmentBits: 1n, errorCode: '000', ...none },
      ...{ carrierCode: 'DELIVRD 000', segmentCharge: null },
      evidence: {
        ...{ carrierId: 1, carrierMessageId, receivedAt: new Date(atMs).toISOString(), matchedAtMs: null },
        ...{ outcome: 'DELIVERED', errorCode: '000', kept: { text: TEXT, tlvs: { message_state: '2' } } },
      },
    },
    taken(2, atMs),
  ]
  return facts.map((fact) => ({ msgId, fact }))
}

function taken(sequence: number, atMs: number): JournalFact['fact'] {
  return {
    ...{ kind: 'event-taken', sequence, attemptedAtMs: atMs, latencyMs: 2, responseStatus: 200 },
    ...{ responseHead: null, destination: null },
  }
}
