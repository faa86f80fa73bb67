import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding, Level } from '../../src/domain/diagnosis.ts'
import { runAldis } from '../support/cli.ts'
import { freshDatabase } from '../support/database.ts'
import { eventually, linkState, type Service, startService } from '../support/service.ts'

const SECRET_KEY = randomBytes(32).toString('hex')
const REQUIRED = { SECRET_KEY, OPERATOR_TOKEN: randomBytes(32).toString('hex') }

let service: Service
beforeAll(async () => {
  service = await startService({ app: { secretKey: Buffer.from(SECRET_KEY, 'hex') } })
})
afterAll(() => service?.[Symbol.asyncDispose]())

async function examine(env: Record<string, string> = {}) {
  const settings = { DATABASE_URL: service.connectionString, ...REQUIRED, ...env }
  const { code, stdout } = await runAldis(['doctor', '--json'], { env: settings })
  const findings = JSON.parse(stdout).findings as Finding[]
  const levels = new Map<string, Level>(findings.map(({ check, level }) => [check, level]))
  return { code, findings, levels }
}

test('a service that works has no faults, and nothing of it is changed', async () => {
  const version = async () => (await service.db.query('select version from directory_version')).rows
  const { accountId } = service
  await service.admin('POST', '/service-plans', { accountId, name: 'Trial', sandbox: true })
  const before = await version()
  await eventually(async () => (await examine()).levels.get(`carrier ${service.carrier}`) === 'ok')
  const { code, levels } = await examine()
  const faulty = [...levels].filter(([, level]) => level === 'fault')
  expect([code, faulty]).toEqual([0, []])
  for (const check of [
    'database',
    'durability',
    'replication',
    'connections',
    'vacuum',
    'clock',
    'schema',
    'partitions',
    'retention',
    'disk',
    'SECRET_KEY',
    'nodes',
    'roles',
    'webhooks',
    `reach ${service.carrier}`,
  ])
    expect([check, levels.get(check)]).toEqual([check, 'ok'])
  expect(await version()).toEqual(before)
  expect(await linkState(service, service.carrier)).toMatch(/^BOUND/)
})

test('what is wrong is a fault, with what to do', async () => {
  const other = await examine({ SECRET_KEY: randomBytes(32).toString('hex') })
  expect([other.code, other.findings.at(-1)]).toMatchObject([
    1,
    { check: 'SECRET_KEY', level: 'fault', advice: expect.stringContaining('other nodes') },
  ])
  await service.simulator.stop()
  await eventually(async () => (await examine()).levels.get(`carrier ${service.carrier}`) === 'fault')
  const { code, findings } = await examine()
  expect([code, findings.find(({ check }) => check === `reach ${service.carrier}`)]).toMatchObject([
    1,
    { level: 'fault', found: expect.stringContaining('ECONNREFUSED') },
  ])
  const { stdout } = await runAldis(['doctor'], {
    env: { DATABASE_URL: service.connectionString, ...REQUIRED },
  })
  expect(stdout).toMatch(/^fault {4}reach .+ECONNREFUSED\n +-> check host, port/m)
})

test('before the first start there are no tables yet', async () => {
  await using empty = await freshDatabase({ state: 'empty' })
  const { code, findings } = await examine({ DATABASE_URL: empty.connectionString })
  expect([code, findings.at(-1)]).toMatchObject([0, { check: 'schema', level: 'warning' }])
  const away = await examine({ DATABASE_URL: 'postgresql://aldis:hush@127.0.0.1:1/aldis' })
  expect([away.code, away.findings]).toMatchObject([1, [{ check: 'database', level: 'fault' }]])
  expect(JSON.stringify(away.findings)).not.toContain('hush')
})

test('needs the settings of a node, and a database of its own', async () => {
  const { code, stderr } = await runAldis(['doctor'], { env: { DATABASE_URL: 'embedded', ...REQUIRED } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to the node')])
  expect((await runAldis(['doctor'])).stderr).toContain('SECRET_KEY')
})

test('the schema of a newer version is a fault only if this one cannot work with it', async () => {
  await using ahead = await freshDatabase({ state: 'started' })
  const schema = async () => (await examine({ DATABASE_URL: ahead.connectionString })).levels.get('schema')
  await ahead.db.query(`insert into schema_migrations (name, run_on) values ('9999_next', now())`)
  expect(await schema()).toBe('ok')
  await ahead.db.query(`select require_migration('9999_next')`)
  expect(await schema()).toBe('fault')
})
