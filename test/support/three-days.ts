/** Partitions for tests without a node. */
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import { DAY_MS } from '../../src/domain/instants.ts'
import { dayName } from '../../src/services/upkeep/day-partitions.ts'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { createPartition, PARTITIONED_TABLES } from '../../src/store/partitions.ts'

/**
 * Makes the partitions of a day, of the one before and of the one behind. A node makes nine days of them, and PostgreSQL reads and
 * plans for all in each session.
 */
export async function makeThreeDays(db: Database, atMs: number): Promise<void> {
  const today = atMs - (atMs % DAY_MS)
  const partitions = [today - DAY_MS, today, today + DAY_MS].map((startMs) => ({
    name: dayName(startMs),
    fromMsgId: lowestIdAt(startMs),
    toMsgId: lowestIdAt(startMs + DAY_MS),
  }))
  for (const table of PARTITIONED_TABLES)
    for (const partition of partitions)
      await withTransaction(db, (transaction) => createPartition(transaction, table, partition))
}
