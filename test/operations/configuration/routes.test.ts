import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ROUTES } from '../../../src/operations/configuration/routes.ts'
import { createObject } from '../../../src/operations/configuration/single-changes.ts'
import { makeChange } from '../../../src/operations/manage/audited-changes.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { routes } from '../../../src/store/routes.ts'
import { freshDatabase } from '../../support/database.ts'
import { eventually } from '../../support/service.ts'

const AUTHOR = { token: 'environment', address: '127.0.0.1', operation: 'createRoute' }
const ADDED = { objectType: 'route', objectId: 'default', before: null, after: {} }

test('a route and a change of its carrier that lock each other out are both made', async () => {
  await using database = await freshDatabase()
  const { db } = database
  await db.query(
    `insert into carriers (name, host, port, system_id, password) values ('acme', 'h', 1, 's', 'p')`,
  )
  const waiting = async () => {
    const { rows } = await db.query(`select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return rows.length === 1
  }
  let created: Promise<unknown> | undefined
  await withTransaction(db, async (change) => {
    // The other is to find the deadlock.
    await change.query(`select set_config('deadlock_timeout', '60s', true)`)
    await change.query(`select from carriers where name = 'acme' for update`)
    const route = { name: 'default', carriers: [{ carrier: 'acme' }] }
    created = makeChange(db, AUTHOR, async (transaction) => {
      const { row } = await createObject(ROUTES, { transaction, secretKey: randomBytes(32) }, route)
      return { value: row, entry: ADDED }
    })
    await eventually(waiting)
    await change.query(`update carriers set host = 'other'`)
  })
  expect(await created).toMatchObject({ name: 'default', carriers: [{ carrier: 'acme' }] })
  expect(await routes.list(db, { after: '', limit: 10 })).toHaveLength(1)
  const { rows } = await db.query('select object_id from audit_log')
  expect(rows).toEqual([{ object_id: 'default' }])
})
