import { expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import { differingSettings, sessionSettings } from '../../src/store/session-settings.ts'
import { databaseOfFile } from '../support/database.ts'

const { db } = await databaseOfFile({ state: 'empty' })
/** Of the pools of tests. */
const SETTINGS = sessionSettings(30_000)

test('a session has the settings of its pool, times in whatever unit the server shows them', async () => {
  expect(await differingSettings(db, SETTINGS)).toEqual([])
  expect(await differingSettings(db, sessionSettings(90_000))).toEqual(['statement_timeout=30s'])
})

test('each setting that differs is named, and none that the server does not have', async () => {
  await withTransaction(db, async (transaction) => {
    await transaction.query(`set local enable_seqscan = on; set local lock_timeout = '1min'`)
    await transaction.query(
      `set local session_replication_role = replica; set local idle_session_timeout = '90s'`,
    )
    const wanted = { ...SETTINGS, no_such_setting: 'on' }
    expect(await differingSettings(transaction, wanted)).toEqual([
      'enable_seqscan=on',
      'idle_session_timeout=90s',
      'lock_timeout=1min',
      'session_replication_role=replica',
    ])
  })
})

test('UTC has several names, of which the server may have set any; another time zone differs', async () => {
  await withTransaction(db, async (transaction) => {
    await transaction.query(`set local TimeZone = 'Etc/UTC'`)
    expect(await differingSettings(transaction, SETTINGS)).toEqual([])
    await transaction.query(`set local TimeZone = 'Europe/Berlin'`)
    expect(await differingSettings(transaction, SETTINGS)).toEqual(['TimeZone=Europe/Berlin'])
  })
})
