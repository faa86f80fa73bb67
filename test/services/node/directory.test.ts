import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Directory } from '../../../src/domain/configuration/directory.ts'
import { ACCOUNTS } from '../../../src/operations/configuration/accounts.ts'
import { CARRIERS } from '../../../src/operations/configuration/carriers.ts'
import { createObject } from '../../../src/operations/configuration/single-changes.ts'
import { DirectoryService } from '../../../src/services/node/directory.ts'
import { type Database, type Queryable, withTransaction } from '../../../src/store/database.ts'
import { databaseOfFile, freshDatabase } from '../../support/database.ts'
import { KeptLog, quietLog } from '../../support/log.ts'

const KEY = randomBytes(32)
const ACCOUNT = { name: 'Example' }

async function addAccount(db: Database, body: Readonly<Record<string, unknown>>) {
  const { row, issued } = await withTransaction(db, (transaction) =>
    createObject(ACCOUNTS, { transaction, secretKey: KEY }, body),
  )
  return { account: row, webhookSecret: issued[0]!.webhookSecret }
}
const database = await databaseOfFile()

function service(options: Partial<ConstructorParameters<typeof DirectoryService>[0]> = {}): DirectoryService {
  return new DirectoryService({ db: database.db, secretKey: KEY, clock: () => 0, log: quietLog, ...options })
}

/** The database of the file, for which `query` runs the statements without a transaction. */
function asked(query: Queryable['query']): Database {
  return { query, connect: () => database.db.connect() } as Database
}

/** Counts the statements without a transaction. */
function counting(): Database & { statements: number } {
  const db = asked((...query) => {
    counted.statements += 1
    return database.db.query(...query)
  })
  const counted = Object.assign(db, { statements: 0 })
  return counted
}

test('there is no directory before the first load', () => {
  expect(() => service().current()).toThrow('not loaded')
  expect(service().stale()).toBe(true)
})

test('a poll without a change is one statement, and the snapshot stays the same object', async () => {
  const db = counting()
  const directory = service({ db })
  await directory.refresh()
  expect(db.statements).toBe(1)
  const before = directory.current()
  await directory.refresh()
  expect(db.statements).toBe(2)
  expect(directory.current()).toBe(before)
})

test('a change is seen at the next poll, told to listeners, and leaves the old snapshot as it was', async () => {
  const directory = service()
  await directory.refresh()
  const before = directory.current()
  const told: Directory[] = []
  const end = directory.onChange((changed) => told.push(changed))
  const { account, webhookSecret } = await addAccount(database.db, ACCOUNT)
  await directory.refresh()
  expect(told).toEqual([directory.current()])
  expect(directory.current().contents.accounts.find(({ id }) => id === account.id)?.webhookSecrets).toEqual([
    webhookSecret,
  ])
  expect(before.contents.accounts.find(({ id }) => id === account.id)).toBeUndefined()
  end()
  await addAccount(database.db, ACCOUNT)
  await directory.refresh()
  expect(told).toHaveLength(1)
})

test('a refresh during a poll holds what was committed before it was asked for', async () => {
  const directory = service()
  await directory.refresh()
  const poll = directory.refresh()
  const { account } = await addAccount(database.db, ACCOUNT)
  const refreshes = [directory.refresh(), directory.refresh(), directory.refresh()]
  await Promise.all(refreshes)
  expect(directory.current().contents.accounts.find(({ id }) => id === account.id)).toBeDefined()
  await poll
})

test('many refreshes that come together share their statements', async () => {
  const db = counting()
  const directory = service({ db })
  await directory.refresh()
  await Promise.all(Array.from({ length: 50 }, () => directory.refresh()))
  expect(db.statements).toBe(2)
})

test('it is stale once nothing has confirmed it for 4 s, counted from before the statement', async () => {
  let nowMs = 1_000
  let advanceMs = 0
  const db = asked((...query) => {
    nowMs += advanceMs
    return database.db.query(...query)
  })
  const directory = service({ db, clock: () => nowMs })
  await directory.refresh()
  nowMs += 4_000
  expect(directory.stale()).toBe(false)
  nowMs += 1
  expect(directory.stale()).toBe(true)
  advanceMs = 3_000
  await directory.refresh()
  nowMs += 1_000
  expect(directory.stale()).toBe(false)
  nowMs += 1
  expect(directory.stale()).toBe(true)
})

test('a database that does not answer leaves the snapshot, which goes stale', async () => {
  let down = false
  let nowMs = 0
  const db = asked((...query) => (down ? Promise.reject(new Error('down')) : database.db.query(...query)))
  const directory = service({ db, clock: () => nowMs })
  await directory.refresh()
  const before = directory.current()
  down = true
  nowMs = 4_001
  await expect(directory.refresh()).rejects.toThrow('down')
  expect(directory.current()).toBe(before)
  expect(directory.stale()).toBe(true)
  down = false
  await directory.refresh()
  expect(directory.stale()).toBe(false)
})

describe('a fresh directory', () => {
  test('is the snapshot itself while it is not stale, without a statement', async () => {
    const db = counting()
    const directory = service({ db })
    await directory.refresh()
    const { statements } = db
    expect(directory.fresh()).toBe(directory.current())
    expect(db.statements).toBe(statements)
  })

  test('is refreshed once, for all who wait for it', async () => {
    const db = counting()
    let nowMs = 0
    const directory = service({ db, clock: () => nowMs })
    await directory.refresh()
    const { account } = await addAccount(database.db, ACCOUNT)
    nowMs = 60_000
    const { statements } = db
    const answers = await Promise.all(Array.from({ length: 50 }, () => directory.fresh()))
    expect(new Set(answers)).toEqual(new Set([directory.current()]))
    expect(directory.current().contents.accounts.find(({ id }) => id === account.id)).toBeDefined()
    expect(db.statements).toBe(statements + 1)
  })

  test('is not given when the database answers too late; one that answers again in time is waited for', async () => {
    let nowMs = 0
    let failures = 0
    const db = asked((...query) => {
      failures -= 1
      return failures >= 0 ? Promise.reject(new Error('down')) : database.db.query(...query)
    })
    const directory = service({ db, clock: () => nowMs })
    await directory.refresh()
    nowMs = 60_000
    failures = 3
    expect(await directory.fresh()).toBe(directory.current())
    const impatient = service({ db, clock: () => nowMs, freshWaitMs: 1 })
    await impatient.refresh()
    nowMs = 120_000
    failures = Number.POSITIVE_INFINITY
    expect(await impatient.fresh()).toBe(null)
  })

  test('is waited for by a bounded number at once', async () => {
    let nowMs = 0
    const directory = service({ clock: () => nowMs, maxFreshWaits: 2 })
    await directory.refresh()
    nowMs = 60_000
    const waits = [directory.fresh(), directory.fresh(), directory.fresh()]
    const answers = await Promise.all(waits)
    expect(answers).toEqual([directory.current(), directory.current(), null])
    nowMs = 120_000
    expect(await directory.fresh()).toBe(directory.current())
  })
})

test('another key than the one secrets were sealed with stops the start', async () => {
  await addAccount(database.db, ACCOUNT)
  const directory = service({ secretKey: randomBytes(32) })
  await expect(directory.start()).rejects.toThrow('SECRET_KEY')
  await directory.stop()
})

test('webhook headers of another account do not open; its own webhooks wait, and that is logged once', async () => {
  await using own = await freshDatabase()
  const log = new KeptLog()
  const headers = { webhookHeaders: [{ name: 'X-Key', value: 'of a' }] }
  const { account: a } = await addAccount(own.db, { ...ACCOUNT, ...headers })
  const { account: b } = await addAccount(own.db, ACCOUNT)
  const directory = service({ db: own.db, log })
  const of = ({ id }: { id: number }) => directory.current().contents.accounts.find((one) => one.id === id)!
  await directory.refresh()
  expect([of(a).webhookHeaders, of(b).webhookHeaders]).toEqual([{ 'X-Key': 'of a' }, {}])
  await own.db.query('update accounts set webhook_headers = $1 where id = $2', [a.webhookHeaders, b.id])
  await directory.refresh()
  await own.db.query(`update accounts set name = 'Changed'`)
  await directory.refresh()
  expect([of(a).webhookSecrets, of(b).webhookSecrets]).toEqual([[expect.any(String)], null])
  const fault = expect.stringContaining(`account ${b.accountId} webhook headers`)
  expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fault })])
})

test('a listener that throws fails neither the others nor the refresh', async () => {
  const log = new KeptLog()
  const directory = service({ log })
  let told = 0
  directory.onChange(() => {
    throw new Error('listener')
  })
  directory.onChange(() => {
    told += 1
  })
  await directory.start()
  expect(told).toBe(1)
  expect(log.errors).toHaveLength(1)
  await directory.stop()
})

test('started, it polls by itself until it is stopped', async () => {
  const directory = service({ clock: () => performance.now() })
  await directory.start()
  const changed = new Promise<Directory>((resolve) => directory.onChange(resolve))
  const { account } = await addAccount(database.db, ACCOUNT)
  expect((await changed).contents.accounts.find(({ id }) => id === account.id)).toBeDefined()
  await directory.stop()
})

test('a secret of one row does not open in the place of another', async () => {
  const carrier = { host: 'smpp.example.net', systemId: 'aldis' }
  await using own = await freshDatabase()
  const { db } = own
  for (const name of ['a', 'b'])
    await withTransaction(db, (transaction) =>
      createObject(CARRIERS, { transaction, secretKey: KEY }, { ...carrier, name, password: `of ${name}` }),
    )
  const directory = service({ db })
  await directory.refresh()
  expect(directory.current().contents.carriers.map((carrier) => carrier.password)).toEqual(['of a', 'of b'])
  await db.query(`update carriers set password = (select password from carriers where name = 'a')`)
  await directory.refresh()
  expect(directory.current().contents.carriers.map(({ state, password }) => [state, password])).toEqual([
    ['started', 'of a'],
    ['stopped', ''],
  ])
})
