/** Reads back, in fresh transactions, the settings that the sessions of a pool have. */
import { type Database, isTransient, withTransaction } from './database.ts'
import type { DatabaseServer } from './database-server.ts'
import { differingSettings, endSession, type SessionSettings } from './session-settings.ts'

/** Rounds in which connections are ended that a pooler opened before the role had its settings. */
const STALE_ROUNDS = 20

/**
 * Returns the settings in which sessions differ from `wanted`, `name=value` each. Behind a pooler, each connection of the
 * pool is checked, because the pooler may have older connections to the server. An older one is ended while we hold it, and
 * the pooler opens another.
 */
export async function settingsThatDoNotHold(
  server: DatabaseServer,
  db: Database,
  wanted: SessionSettings,
): Promise<string[]> {
  const checks = server.pooled ? db.options.max : 1
  let differing: string[] = []
  for (let round = 0; round < (server.pooled ? STALE_ROUNDS : 1); round += 1) {
    const found = await Promise.all(
      Array.from({ length: checks }, () => sessionDifference(server, db, wanted)),
    )
    differing = found.flat()
    if (differing.length === 0) break
  }
  return [...new Set(differing)]
}

async function sessionDifference(server: DatabaseServer, db: Database, wanted: SessionSettings) {
  let differing: string[] = []
  try {
    await withTransaction(db, async (transaction) => {
      differing = await differingSettings(transaction, wanted)
      if (differing.length > 0 && server.pooled) await endSession(transaction)
    })
  } catch (error) {
    // The end of the session is an error of its statement.
    if (differing.length === 0 || !isTransient(error)) throw error
  }
  return differing
}
