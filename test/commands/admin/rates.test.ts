import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminServer, createPlan, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

let server: AdminServer
let env: Record<string, string>
let folder: string
beforeAll(async () => {
  server = await startAdminServer()
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  folder = await mkdtemp(join(tmpdir(), 'aldis-rates-'))
})
beforeEach(async () => {
  await server.database.db.query('delete from rates')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Runs a command that must succeed and gives what it printed as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runAldis([...args, '--json'], { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout === '' ? null : JSON.parse(stdout)
}

async function file(...lines: string[]): Promise<string> {
  const path = join(folder, 'rates.csv')
  await writeFile(path, lines.join('\n'))
  return path
}

test('a rate is added, shown, changed and deleted', async () => {
  const { servicePlanId } = await createPlan(server)
  const amounts = ['--price', '0.007500', '--ptf', '0.003', '--currency', 'USD']
  const rate = await json('rate', 'create', '--plan', servicePlanId, '--mccmnc', '310410', ...amounts)
  expect(rate).toMatchObject({ servicePlanId, mccmnc: '310410', price: '0.0075', ptf: '0.003' })
  await json('rate', 'create', '--prefix', '+4670', '--price', '1', '--currency', 'SEK')
  const id = String(rate.rateId)
  expect(await json('rate', 'update', id, '--price', '0.008')).toEqual({ ...rate, price: '0.008' })
  expect((await json('rate', 'list', '--plan', servicePlanId)).items).toHaveLength(1)
  const { stdout } = await runAldis(['rate', 'list'], { env })
  const [heading, first, second] = stdout.split('\n')
  expect(heading).toMatch(/^RATE ID +PLAN +PREFIX +COUNTRY +MCCMNC +PRICE +PTF +CURRENCY$/)
  expect(first).toMatch(/^\d+ +[0-9a-f]{24} +- +- +310410 +0\.008 +0\.003 +USD$/)
  expect(second).toMatch(/^\d+ +- +\+4670 +- +- +1 +0 +SEK$/)
  await json('rate', 'delete', id)
  expect(await runAldis(['rate', 'show', id], { env })).toMatchObject({
    code: 1,
    stderr: 'error: No such rate\n',
  })
})

test('a sender rule is added, changed and deleted', async () => {
  const rule = await json('sender-rule', 'create', 'US', '--sender-type', 'short-code, e164')
  expect(rule).toMatchObject({ servicePlanId: null, country: 'US', senderTypes: ['short-code', 'e164'] })
  const id = String(rule.ruleId)
  expect(await json('sender-rule', 'update', id, '--no-sender-type')).toMatchObject({ senderTypes: [] })
  expect((await json('sender-rule', 'list', '--country', 'US')).items).toHaveLength(1)
  const missing = await runAldis(['sender-rule', 'update', id], { env })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('--sender-type') })
  await json('sender-rule', 'delete', id)
  expect((await runAldis(['sender-rule', 'show', id], { env })).code).toBe(1)
})

describe('rate import', () => {
  test('a file in any order of columns, quoted or not, twice', async () => {
    const { servicePlanId } = await createPlan(server)
    const path = await file(
      'currency,price,country,mccmnc,servicePlanId',
      'EUR,0.045,SE,,',
      `"USD","0.0075",,310410,${servicePlanId}`,
      'EUR,0.09,,,',
      '',
    )
    expect(await json('rate', 'import', path)).toEqual({ imported: 3 })
    expect(await json('rate', 'import', path)).toEqual({ imported: 3 })
    const { items } = await json('rate', 'list')
    expect(items).toMatchObject([
      { servicePlanId, country: null, mccmnc: '310410', price: '0.0075', currency: 'USD' },
      { servicePlanId: null, country: 'SE', mccmnc: null, price: '0.045', ptf: '0', currency: 'EUR' },
      { servicePlanId: null, country: null, mccmnc: null, price: '0.09' },
    ])
  })

  test('more than one request takes, with progress on standard error, from standard input', async () => {
    const lines = Array.from({ length: 1_500 }, (_, index) => `+46${100_000 + index},0.${index + 1},EUR`)
    const stdin = ['prefix,price,currency', ...lines].join('\r\n')
    const { code, stdout, stderr } = await runAldis(['rate', 'import', '-'], { env, stdin })
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '1500 imported\n',
      stderr: '1000 of 1500\n1500 of 1500\n',
    })
    await server.directory.refresh()
    expect(server.directory.current().contents.rates.size).toBe(1_500)
  })

  test('every fault with its line, and nothing of its batch', async () => {
    const path = await file(
      'country,price,currency',
      'SE,0.045,EUR',
      'ZZ,0.045,EUR',
      'NO,"0,045",EUR',
      'SE,0.05,EUR',
      'DK,0.045,',
    )
    const { code, stdout, stderr } = await runAldis(['rate', 'import', path], { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('line 4: price must be a decimal')
    expect(stderr).toContain('line 6: currency is required')
    expect(stderr).toContain('0 lines before were imported')
    const second = await runAldis(
      ['rate', 'import', await file('country,price,currency', 'SE,1,EUR', 'ZZ,1,EUR', 'SE,2,EUR')],
      { env },
    )
    expect(second.stderr).toContain('line 3: country must be a country code')
    expect(second.stderr).toContain('line 4: has the same plan and recipients as an earlier one')
    expect((await json('rate', 'list')).items).toEqual([])
  })
})
