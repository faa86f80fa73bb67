import { type AlarmCondition, alarmConditions } from '../domain/alarms.ts'
import type { Backlog } from '../domain/backlog.ts'
import type { Directory } from '../domain/configuration/directory.ts'
import { createdAtMs, lowestIdAt } from '../domain/identifiers.ts'
import { DAY_MS } from '../domain/instants.ts'
import { bindStates } from '../domain/nodes.ts'
import { carriers } from '../store/carriers.ts'
import type { Queryable } from '../store/database.ts'
import { countUnownedSince } from '../store/inbound-messages.ts'
import { listUsedCaps } from '../store/limit-events.ts'
import { listPauses, type MissingReceipts } from '../store/quality.ts'
import { type OwnReport, readNodes } from './read-nodes.ts'

export interface AlarmSources {
  /** The pool for look-ups. */
  readonly reads: Queryable
  readonly directory: () => Directory
  readonly ownReport: OwnReport
  readonly backlog: { read(): Promise<Backlog> }
  readonly quality: { clock(): number; missingReceipts(): Promise<readonly MissingReceipts[]> }
  readonly clock: () => number
  /** A message that waits for longer is an alarm. */
  readonly backlogSeconds: number
}

const UNOWNED_FOR_MS = 3_600_000
/** No cap is for longer than a month. */
const CAPPED_FOR_MS = 31 * DAY_MS

/** Everything that is wrong now in the whole installation, as alarms. One connection reads all of it. */
export async function readAlarmConditions(sources: AlarmSources): Promise<AlarmCondition[]> {
  const { reads, directory, ownReport, backlog, quality, clock, backlogSeconds } = sources
  const now = clock()
  const nodes = await readNodes(reads, ownReport)
  const all = await carriers.all(reads)
  const unowned = await countUnownedSince(reads, lowestIdAt(now - UNOWNED_FOR_MS))
  return alarmConditions({
    nowMs: now,
    carriers: all.map((carrier) => ({
      name: carrier.name,
      state: carrier.state,
      binds: bindStates(carrier, nodes),
    })),
    backlog: await backlog.read(),
    held: nodes.flatMap(({ report }) => report?.late ?? []),
    directory: directory(),
    pauses: await listPauses(reads, new Date(quality.clock())),
    receipts: await quality.missingReceipts(),
    usedCaps: await listUsedCaps(reads, new Date(now - CAPPED_FOR_MS)),
    unowned: unowned && { count: unowned.count, since: new Date(createdAtMs(unowned.oldestMsgId)) },
    backlogSeconds,
  })
}
