import type { WriteEvents } from '../../domain/events.ts'
import { lowestIdAt } from '../../domain/identifiers.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/instants.ts'
import type { ChangedMessage } from '../../domain/journal/messages-in-progress.ts'
import { writeInHalves } from '../../operations/batches.ts'
import type { Announcing } from '../../operations/record-facts.ts'
import { recordReceiptsByAddress } from '../../operations/record-receipts-by-address.ts'
import { RESPONSE_TIMEOUT_MS } from '../../smpp/session-options.ts'
import { awayPlans, byServer } from '../../store/citus.ts'
import type { Database } from '../../store/database.ts'
import type { ParkedPlace } from '../../store/parked-receipts.ts'
import {
  areInRecords,
  findAwaited,
  findReceiptsByAddress,
  isAnyUnanswered,
  type LaneEnds,
  type ParkedPart,
  type ReceiptByAddress,
  readLaneEnds,
} from '../../store/unanswered-submits.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface ReceiptsByAddressOptions extends NodeParts {
  readonly writeEvents: WriteEvents
  readonly onChanged: (messages: readonly ChangedMessage[], holder: number | null) => void
  readonly onState?: Announcing['onState']
  /** How long an answer to a submit is awaited. Default: as sessions have it. */
  readonly responseTimeoutMs?: number | undefined
}

const POLL_MS = 5_000
/** As long as receipts are parked. A submit without an answer is forgotten then, too. */
export const UNANSWERED_LIFETIME_MS = 72 * HOUR_MS
/** Receipts whose time has come within this are looked at in every run; of the others, a page in turn. */
const RECENT_MS = 2 * MINUTE_MS
const PAGE = 500
const MAX_PAGES = 10
const OLDEST: ParkedPlace = { parkedAt: new Date(0).toISOString(), parkedId: 0 }

/**
 * Matches parked receipts by their addresses with messages in doubt; elsewhere receipts are matched by their ids. A receipt may
 * overtake the answer to its submit, which would tell its id. So a receipt is left alone for as long as an answer is awaited,
 * and then until the records show what became of every submit from before it, however late timers, COMMITs or nodes are: all
 * lanes are in the records as far as they went when it was parked, and none has a message to its addresses in progress. If
 * nobody knows its id then, its submit was not answered. Every node looks, and the first to unpark a receipt applies it.
 */
export function receiptsByAddress(options: ReceiptsByAddressOptions): PeriodicTask {
  const { db, clock, log, responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options
  // A quarter more, for what was not answered to get into the records.
  const waitMs = responseTimeoutMs * 1.25
  let lookedTo = OLDEST
  /** Not in the records when they were last looked at. */
  let ends: LaneEnds | null = null
  /** What became of the submits of before is in the records, unless a lane has their messages in progress. */
  let knownTo: string | null = null
  const look = async (after: ParkedPlace, before: string) => {
    const part = { after, before, waitMs, withinMs: UNANSWERED_LIFETIME_MS, limit: PAGE }
    const { found, last } = await findReceiptsByAddress(db, part)
    if (found.length > 0) await apply(await withoutAwaited(db, found, part, clock()), options)
    return last
  }
  return new PeriodicTask(log, 'receipts not matched by addresses', Math.min(POLL_MS, waitMs), async () => {
    // The records of a server that is away do not show what is in progress.
    if (awayPlans(db).length > 0 || !(await isAnyUnanswered(db))) return
    if (ends !== null && (await areInRecords(db, ends))) {
      knownTo = ends.at
      ends = null
    }
    ends ??= await readLaneEnds(db)
    if (knownTo === null) return
    const recentMs = clock() - waitMs - RECENT_MS
    let next: ParkedPlace | null = { ...OLDEST, parkedAt: new Date(recentMs).toISOString() }
    for (let pages = MAX_PAGES; pages > 0 && next !== null; pages -= 1) next = await look(next, knownTo)
    lookedTo = (await look(lookedTo, knownTo)) ?? OLDEST
  })
}

/**
 * Those whose addresses no message in progress has. They are looked for again after that was asked: a message that was in
 * progress before may be in doubt by now.
 */
async function withoutAwaited(
  db: Database,
  found: readonly ReceiptByAddress[],
  part: ParkedPart,
  nowMs: number,
): Promise<readonly ReceiptByAddress[]> {
  const addresses = found.flatMap(({ receipt }) => receipt.addresses)
  const awaited = await findAwaited(db, addresses, lowestIdAt(nowMs - UNANSWERED_LIFETIME_MS))
  const free = new Set(
    found
      .filter(({ receipt }) => !receipt.addresses.some((address) => awaited.has(address)))
      .map(({ receipt }) => receipt.parkedId),
  )
  const again = free.size === 0 ? [] : (await findReceiptsByAddress(db, part)).found
  return again.filter(({ receipt }) => free.has(receipt.parkedId))
}

async function apply(found: readonly ReceiptByAddress[], options: ReceiptsByAddressOptions): Promise<void> {
  const { db, directory, clock, writeEvents, onChanged, onState, log } = options
  for (const ofServer of await byServer(db, found, ({ planId }) => planId))
    await writeInHalves(
      ofServer,
      (part) =>
        writeEvents(async (holder) => {
          const announcing = { directory: directory(), atMs: clock(), holder, onState }
          onChanged(await recordReceiptsByAddress(db, part, announcing), holder.nodeId)
          return part
        }),
      (one, error) => {
        log.error({ err: error, msgId: one.msgId }, 'receipt of a message in doubt refused by the database')
        return one
      },
    )
}
