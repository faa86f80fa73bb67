/** What people send, as a carrier's deliver_sm brings it. */

import type { SegmentNumber } from '../../src/domain/text/concatenation.ts'
import { DEFAULT_LANGUAGE } from '../../src/domain/text/gsm-national-tables.ts'
import type { InboundDeps, InboundSegment, ReceivedInbound } from '../../src/operations/receive-inbound.ts'
import type { Database } from '../../src/store/database.ts'
import { newId } from './installation.ts'
import { quietLog } from './log.ts'

export const NOW_MS = Date.UTC(2026, 2, 10, 12)
export const SENDER = '+491701234567'
/** Of the installation's announced plan. */
export const NUMBER = '+49301234567'

/** A node that owns bucket 7, where every message of NOW_MS goes. */
export function inboundDeps(
  given: Partial<InboundDeps> & Pick<InboundDeps, 'db' | 'directory'>,
): InboundDeps {
  return { newMessageId: () => newId(NOW_MS), holder: { nodeId: 3, buckets: [7] }, log: quietLog, ...given }
}

export function single(text: string, given: Partial<InboundSegment> = {}): InboundSegment {
  return {
    carrierId: 1,
    sender: SENDER,
    recipient: NUMBER,
    dataCoding: 3,
    payload: Buffer.from(text, 'latin1'),
    part: null,
    language: DEFAULT_LANGUAGE,
    receivedAtMs: Date.now(),
    ...given,
  }
}

/** Of three, unless another part is given. */
export function partOf(
  text: string,
  sequence: number,
  part: Partial<SegmentNumber> = {},
  given: Partial<InboundSegment> = {},
): InboundSegment {
  return single(text, { part: { kind: 'udh8', reference: 42, total: 3, sequence, ...part }, ...given })
}

export function texts(received: readonly ReceivedInbound[]): string[] {
  return received.map(({ inbound }) => inbound.body).sort()
}

export async function storedTexts(db: Database): Promise<string[]> {
  const { rows } = await db.query<{ body: string }>('select body from inbound_messages order by body')
  return rows.map((row) => row.body)
}
