import type { WriteEvents } from '../../domain/events.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/instants.ts'
import type { ChangedMessage } from '../../domain/journal/messages-in-progress.ts'
import { writeInHalves } from '../../operations/batches.ts'
import type { Announcing } from '../../operations/record-facts.ts'
import { recordReceiptsByAddress } from '../../operations/record-receipts-by-address.ts'
import { RESPONSE_TIMEOUT_MS } from '../../smpp/session-options.ts'
import { byServer, isAway } from '../../store/citus.ts'
import type { ParkedPlace } from '../../store/parked-receipts.ts'
import {
  areSubmitsKnown,
  findReceiptsByAddress,
  type ReceiptByAddress,
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
 * overtake the answer to its submit, which would tell its id. So a receipt is left alone for as long as an answer is awaited.
 * If nobody knows its id then, its submit was not answered. Every node looks, and the first to unpark a receipt applies it.
 */
export function receiptsByAddress(options: ReceiptsByAddressOptions): PeriodicTask {
  const { db, clock, log, responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options
  // A quarter more, for what was not answered to get into the records.
  const waitMs = responseTimeoutMs * 1.25
  let lookedTo = OLDEST
  const look = async (after: ParkedPlace) => {
    const within = { after, waitMs, withinMs: UNANSWERED_LIFETIME_MS, limit: PAGE }
    const { found, last } = await findReceiptsByAddress(db, within)
    await apply(found, options)
    return last
  }
  return new PeriodicTask(log, 'receipts not matched by addresses', Math.min(POLL_MS, waitMs), async () => {
    if (!(await areSubmitsKnown(db))) return
    const recentMs = clock() - waitMs - RECENT_MS
    let next: ParkedPlace | null = { ...OLDEST, parkedAt: new Date(recentMs).toISOString() }
    for (let pages = MAX_PAGES; pages > 0 && next !== null; pages -= 1) next = await look(next)
    lookedTo = (await look(lookedTo)) ?? OLDEST
  })
}

async function apply(found: readonly ReceiptByAddress[], options: ReceiptsByAddressOptions): Promise<void> {
  const { db, directory, clock, writeEvents, onChanged, onState, log } = options
  const here = found.filter(({ planId }) => !isAway(db, planId))
  if (here.length === 0) return
  for (const ofServer of await byServer(db, here, ({ planId }) => planId))
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
