import { expect, test } from 'vitest'
import { freshDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { startServe } from '../../support/process.ts'

const TABLES = ['accounts', 'carriers', 'routes', 'service_plans', 'number_ranges', 'audit_log']

const CONFIGURATION = {
  accounts: { 'Example Ltd': {} },
  carriers: { acme: { host: 'smpp.example.net', systemId: 'aldis', password: 'secret08', state: 'stopped' } },
  routes: { main: { carriers: [{ carrier: 'acme' }] } },
  plans: { Alerts: { account: 'Example Ltd', route: 'main' } },
  ranges: { '+4477': { mccmnc: '23410' } },
}

test('kill -9 of the service in the middle of an apply: nothing has changed', async () => {
  await using database = await freshDatabase()
  const { db } = database
  const counts = async () =>
    Promise.all(TABLES.map(async (table) => (await db.query(`select from ${table}`)).rowCount))
  await using service = await startServe({ DATABASE_URL: database.connectionString })
  // The last kind of the file waits for this lock, when the others have been written.
  const other = await db.connect()
  await other.query('begin')
  await other.query('lock table number_ranges in share mode')
  const applied = fetch(`${service.baseUrl}/admin/v1/configuration/apply`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(CONFIGURATION),
  }).catch((error: Error) => error)
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into number_ranges%'`
  await eventually(async () => (await db.query(waiting)).rowCount === 1)
  service.running.kill('SIGKILL')
  expect(await applied).toBeInstanceOf(Error)
  await other.query('commit')
  other.release()
  const open = `select from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  await eventually(async () => (await db.query(open)).rowCount === 0)
  expect(await counts()).toEqual(TABLES.map(() => 0))
})
