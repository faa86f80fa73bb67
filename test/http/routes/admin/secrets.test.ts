import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import {
  deriveKey,
  openSecret,
  SecretError,
  type SecretKeys,
  sealingKeyId,
} from '../../../../src/domain/secrets.ts'
import { rotateWebhookSecret } from '../../../../src/operations/configuration/accounts.ts'
import { resealSecrets, type SealedStore } from '../../../../src/operations/reseal-secrets.ts'
import { DirectoryService } from '../../../../src/services/node/directory.ts'
import { withTransaction } from '../../../../src/store/database.ts'
import { readDirectory } from '../../../../src/store/directory.ts'
import { adminServerOfFile, CARRIER, createPlan, startAdminServer } from '../../../support/admin-server.ts'
import { runAldis } from '../../../support/cli.ts'
import { databaseOfFile } from '../../../support/database.ts'
import { eventually } from '../../../support/eventually.ts'
import { quietLog } from '../../../support/log.ts'

const OLD = deriveKey(randomBytes(32), 'secrets')
const NEW = deriveKey(randomBytes(32), 'secrets')

const database = await databaseOfFile({ state: 'anyDay' })
const server = await adminServerOfFile({ database, secretKey: [OLD, NEW] })
const { db } = database
const CALLBACK = 'https://user:secret@hooks.example.com/'

/** Everything there is to be sealed, sealed with the old key. */
const { accountId, servicePlanId } = await createPlan(server, { inboundUrl: CALLBACK })
await server.request('PATCH', `/accounts/${accountId}`, {
  defaultDlrUrl: CALLBACK,
  webhookHeaders: [{ name: 'X-Key', value: 'hush' }],
})
await server.request('POST', `/accounts/${accountId}/webhook-secret/rotate`)
await server.request('POST', '/carriers', CARRIER)
const sealedUrl = (await db.query('select default_dlr_url as url from accounts')).rows[0].url
await db.query(
  `insert into messages (plan_id, msg_id, segments, updated_at, sender, recipient, body, callback_url)
   select p.id, gen_random_uuid(), 1, now(), 'Example', '+15551230001', 'x', case when n % 2 = 0 then $1 else 'https://example.com/' end
   from service_plans p, generate_series(1, 250) n`,
  [sealedUrl],
)

function openWith(keys: SecretKeys) {
  return (sealed: string, context: string) => openSecret(keys, sealed, context)
}

function runReseal(url = server.baseUrl) {
  return runAldis(['secrets', 'reseal'], {
    env: { ALDIS_URL: url, ALDIS_OPERATOR_TOKEN: server.operatorToken },
  })
}

/** All that is stored sealed, opened; throws when one does not open. */
async function opened(keys: SecretKeys): Promise<unknown> {
  const { contents } = await readDirectory(db, openWith(keys))
  const { rows } = await db.query<{ url: string }>(
    `select default_dlr_url as url from accounts union all select inbound_url from service_plans
     union all select callback_url from messages where callback_url like 'v1.%'`,
  )
  const [account] = contents.accounts
  return {
    secrets: account!.webhookSecrets,
    headers: account!.webhookHeaders,
    password: contents.carriers[0]!.password,
    urls: rows.map(({ url }) => openSecret(keys, url, 'callback URL')),
  }
}

const secrets: SealedStore = { read: (find) => find(db), replace: (replacement) => replacement(db) }

/** Reseals to the end. */
async function reseal(keys: SecretKeys, stretch: number) {
  const sum = { resealed: 0, unreadable: 0, pending: 0, scanned: 0 }
  for (let after: Parameters<typeof resealSecrets>[2]['after'] | undefined; after !== null; ) {
    const done = await resealSecrets(secrets, keys, { after: after ?? null, stretch })
    sum.resealed += done.resealed
    sum.unreadable += done.unreadable
    sum.pending += done.pending
    sum.scanned += done.scanned
    after = done.next
  }
  return sum
}

test('a key is changed: both open, everything is sealed anew, then the new one alone opens it', async () => {
  const before = await opened(OLD)
  const directory = new DirectoryService({
    db,
    secretKey: [NEW, OLD],
    clock: () => 0,
    log: quietLog,
  })
  await directory.refresh()
  expect(await opened([NEW, OLD])).toEqual(before)
  await expect(opened(NEW)).rejects.toThrow(SecretError)

  // Secret and its predecessor, headers, two URLs, a password, and every second message.
  expect(await reseal([NEW, OLD], 40)).toEqual({ resealed: 6 + 125, unreadable: 0, pending: 0, scanned: 250 })
  expect(await opened(NEW)).toEqual(before)
  await expect(opened(OLD)).rejects.toThrow(SecretError)

  // Again, or where it was interrupted: nothing is left to do.
  expect(await reseal([NEW, OLD], 10_000)).toEqual({ resealed: 0, unreadable: 0, pending: 0, scanned: 250 })
  expect(await reseal([NEW, OLD], 250)).toEqual({ resealed: 0, unreadable: 0, pending: 0, scanned: 250 })
  // Without the old key what it sealed is counted and kept; here it is the other way round.
  expect(await reseal(OLD, 10_000)).toEqual({ resealed: 0, unreadable: 131, pending: 0, scanned: 250 })
  expect(await opened(NEW)).toEqual(before)
  expect(await reseal([OLD, NEW], 10_000)).toEqual({ resealed: 131, unreadable: 0, pending: 0, scanned: 250 })
})

test('a webhook secret that is rotated meanwhile has the new key, and so has the one it replaces', async () => {
  await server.request('DELETE', `/accounts/${accountId}/webhook-secret/previous`)
  const { webhookSecrets } = (await readDirectory(db, openWith([OLD]))).contents.accounts[0]!
  const waiting = (count: number) => async () => {
    const { rows } = await db.query(`select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return rows.length === count
  }
  let rotated: ReturnType<typeof rotateWebhookSecret> | undefined
  let done: ReturnType<typeof reseal> | undefined
  await withTransaction(db, async (transaction) => {
    await transaction.query('select from accounts for update')
    rotated = withTransaction(db, (rotation) => rotateWebhookSecret(rotation, [NEW, OLD], accountId))
    await eventually(waiting(1))
    // It has read everything, and waits behind the rotation to write.
    done = reseal([NEW, OLD], 10_000)
    await eventually(waiting(2))
  })
  const { webhookSecret } = await rotated!
  expect(await done!).toMatchObject({ unreadable: 0, pending: 0 })
  const { contents } = await readDirectory(db, openWith(NEW))
  expect(contents.accounts[0]!.webhookSecrets).toEqual([webhookSecret, webhookSecrets![0]])
  await reseal([OLD, NEW], 10_000)
})

test('aldis secrets reseal goes through everything and reports it', async () => {
  const { code, stdout, stderr } = await runReseal()
  expect([code, stdout]).toEqual([0, '0 secrets resealed, 250 messages looked at.\n'])
  expect(stderr).toContain('continues with --after 0.00000000')
  const refused = await server.request('POST', '/secrets/reseal', { after: 'x' })
  expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'after'])
  expect(servicePlanId).toMatch(/^[0-9a-f]{24}$/)
})

test('aldis secrets reseal fails while a secret keeps its old key, and can be repeated', async () => {
  await reseal([NEW, OLD], 10_000)
  await db.query(`create function refuse() returns trigger language plpgsql as 'begin return null; end'`)
  await db.query(
    'create trigger refuse before update on service_plans for each row execute function refuse()',
  )
  const { code, stdout, stderr } = await runReseal()
  expect([code, stdout]).toEqual([1, '130 secrets resealed, 250 messages looked at.\n'])
  expect(stderr).toContain('1 secrets kept changing and have the old key: repeat this')
  await db.query('drop trigger refuse on service_plans')
  expect(await runReseal()).toMatchObject({
    code: 0,
    stdout: '1 secrets resealed, 250 messages looked at.\n',
  })
})

test('aldis secrets reseal stops when nodes with different keys answer it', async () => {
  const nodes = [server, await startAdminServer({ secretKey: NEW })] as const
  let requests = 0
  const balancer = createServer(async (request, response) => {
    const node = nodes[requests++ % 2]!
    const answer = await fetch(`${node.baseUrl}${request.url}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${node.operatorToken}`, 'content-type': 'application/json' },
      body: await text(request),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await once(balancer.listen(0, '127.0.0.1'), 'listening')
  const { code, stdout, stderr } = await runReseal(
    `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
  )
  balancer.close()
  await nodes[1][Symbol.asyncDispose]()
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(
    `nodes use different keys (${sealingKeyId(OLD)}, ${sealingKeyId(NEW)}): give all nodes the same SECRET_KEY`,
  )
})
