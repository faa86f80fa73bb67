import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, CARRIER, createPlan, startAdminServer } from '../../support/admin-server.ts'
import { type CommandResult, runAldis } from '../../support/cli.ts'
import { scratchFolder } from '../../support/process.ts'

let server: AdminServer
let env: Record<string, string>
let servicePlanId: string
beforeAll(async () => {
  server = await startAdminServer({ carrierCondition: (id) => (id === 1 ? 'unbound' : 'usable') })
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  await server.request('POST', '/carriers', CARRIER)
  await server.request('POST', '/carriers', { ...CARRIER, name: 'backup' })
  const carriers = [{ carrier: 'acme' }, { carrier: 'backup', priority: 1 }]
  await server.request('POST', '/routes', { name: 'default', carriers })
  await server.request('POST', '/routes', { name: 'uk', carriers: [{ carrier: 'backup' }] })
  servicePlanId = (await createPlan(server, { route: 'default' })).servicePlanId
})
afterAll(() => server[Symbol.asyncDispose]())

const run = (args: readonly string[], stdin?: string): Promise<CommandResult> =>
  runAldis(args, { env, ...(stdin !== undefined && { stdin }) })

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run([...args, '--json'])
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout === '' ? undefined : JSON.parse(stdout)
}

test('rules are added, listed, led elsewhere and deleted', async () => {
  const added = await json(
    ...['routing-rule', 'create', '--plan', servicePlanId, '--from', 'ACME', '--prefix', '+4479'],
    ...['--route', 'uk'],
  )
  expect(added).toMatchObject({ servicePlanId, from: 'ACME', prefix: '+4479', country: null, route: 'uk' })
  await json('routing-rule', 'create', '--country', 'SE', '--route', 'default')
  await json('routing-rule', 'create', '--mccmnc', '23415', '--route', 'default')

  const { stdout } = await run(['routing-rule', 'list', '--plan', servicePlanId])
  const [heading, ...rows] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/^RULE ID +PLAN +FROM +MCCMNC +PREFIX +COUNTRY +ROUTE$/)
  expect(rows).toEqual([expect.stringMatching(/^\d+ +[0-9a-f]{24} +ACME +- +\+4479 +- +uk$/)])
  const ofRoute = await json('routing-rule', 'list', '--route', 'default')
  expect(ofRoute.items).toMatchObject([{ country: 'SE' }, { mccmnc: '23415' }])

  const ruleId = String(added.ruleId)
  expect(await json('routing-rule', 'update', ruleId, '--route', 'default')).toMatchObject({
    route: 'default',
  })
  expect(await json('routing-rule', 'show', ruleId)).toMatchObject({ from: 'ACME', route: 'default' })
  await json('routing-rule', 'delete', ruleId)
  expect((await run(['routing-rule', 'show', ruleId])).stderr).toBe('error: No such routing rule\n')
  expect((await run(['routing-rule', 'create', '--route', 'uk'])).stderr).toContain('must have one of')
})

test('a quality floor has defaults, and is lifted', async () => {
  const made = await json('route', 'create', 'watched', '--carrier', 'acme', '--quality-floor', '70:30')
  expect(made.qualityFloor).toEqual({
    minDelivered: 70,
    windowMinutes: 30,
    minMessages: 100,
    pauseMinutes: 30,
  })
  const changed = await json('route', 'update', 'watched', '--quality-floor', '80:60:200:15')
  expect(changed).toMatchObject({
    qualityFloor: { minDelivered: 80, windowMinutes: 60, minMessages: 200, pauseMinutes: 15 },
    carriers: [{ carrier: 'acme' }],
  })
  expect((await json('route', 'update', 'watched', '--no-quality-floor')).qualityFloor).toBeNull()
  const wrong = await run(['route', 'update', 'watched', '--quality-floor', 'high'])
  expect(wrong.stderr).toContain('--quality-floor minDelivered must be')
})

test('number ranges are set, listed and deleted', async () => {
  expect(await json('number-range', 'create', '+447911', '--mccmnc', '23415')).toMatchObject({
    prefix: '+447911',
  })
  const { stdout } = await run(['number-range', 'list', '--mccmnc', '23415'])
  expect(stdout).toMatch(/^PREFIX +MCCMNC\n\+447911 +23415\n$/)
  expect(await json('number-range', 'show', '+447911')).toMatchObject({ mccmnc: '23415' })
  expect(await json('number-range', 'update', '+447911', '--mccmnc', '23410')).toMatchObject({
    mccmnc: '23410',
  })
  await json('number-range', 'delete', '+447911')
  expect((await run(['number-range', 'show', '+447911'])).code).toBe(1)
})

test('number ranges are imported from a file, with progress, and from standard input', async () => {
  using scratch = scratchFolder()
  const file = join(scratch.path, 'ranges.csv')
  const lines = Array.from({ length: 1_500 }, (_, n) => `+33${700_000 + n},20801`)
  writeFileSync(file, `prefix,mccmnc\n${lines.join('\n')}\n`)
  const imported = await run(['number-range', 'import', file])
  expect(imported).toEqual({
    code: 0,
    stdout: '1500 imported\n',
    stderr: '1000 of 1500\n1500 of 1500\n',
  })
  const piped = await run(['number-range', 'import', '-', '--json'], 'mccmnc,prefix\n20810,+33700000\n')
  expect(JSON.parse(piped.stdout)).toEqual({ imported: 1 })
  expect(await json('number-range', 'show', '+33700000')).toMatchObject({ mccmnc: '20810' })
})

test('a file with faults names the lines, and what went in before', async () => {
  const wrong = await run(
    ['number-range', 'import', '-'],
    'prefix,mccmnc\n+3361,20801\n\n3362,20801\n+3363,2\n',
  )
  expect(wrong).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'error: line 4: prefix must be "+" and 1 to 15 digits, starting with the country code; ' +
      'line 5: mccmnc must be 5 or 6 digits: mobile country code and network code (0 lines before were imported)\n',
  })
  expect((await run(['number-range', 'show', '+3361'])).code).toBe(1)
  const missing = await run(['number-range', 'import', '-'], 'prefix\n+3361\n')
  expect(missing.stderr).toContain('the column mccmnc is missing')
})

test('explain says which carrier, why, and at what cost', async () => {
  await server.request('PUT', `/service-plans/${servicePlanId}/senders/ACME`, { status: 'approved' })
  await server.request('POST', '/rates', { country: 'GB', price: '0.0075', ptf: '0', currency: 'EUR' })
  const question = ['route', 'explain', '--plan', servicePlanId, '--from', 'ACME', '--to', '+447400123456']
  const { code, stdout } = await run([...question, '--body', 'x'.repeat(161)])
  expect(code).toBe(0)
  const [fields, table] = stdout.split('\n\n')
  expect(fields!.split('\n')).toEqual([
    'sendable  yes',
    'country   GB',
    'mccmnc    -',
    "route     default, by the plan's own",
    'carrier   backup',
    'encoding  GSM7',
    'segments  2',
    'price     0.015 EUR',
    'ptf       0 EUR',
    expect.stringMatching(/^rate {6}\d+, to GB, of all plans$/),
  ])
  expect(table!.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^CARRIER +PRIORITY +WEIGHT +CONDITION +SHARE +REASON$/),
    expect.stringMatching(/^acme +0 +1 +unbound +0 +-$/),
    expect.stringMatching(/^backup +1 +1 +usable +100 +plan's route default: after acme \(unbound\)$/),
  ])
  const answer = await json(...question)
  expect(answer).toMatchObject({ route: 'default', segments: 1, charge: { price: '0.0075' } })
})

test('explain says why a message would be refused', async () => {
  const question = ['route', 'explain', '--plan', servicePlanId, '--from', '12345', '--to', '+447400123456']
  const { stdout } = await run(question)
  expect(stdout).toMatch(
    /^sendable +no, SENDER_NOT_AUTHORIZED: The service plan may not send from this sender$/m,
  )
  const { servicePlanId: incomplete } = await createPlan(server)
  const without = await run([...question.slice(0, 3), incomplete, ...question.slice(4)])
  expect(without.stdout).toMatch(
    /^sendable +no, SERVICE_PLAN_INCOMPLETE: .*\n(?:.*\n)*route +-\ncarrier +none now: it would wait$/m,
  )
  const wrong = await run(['route', 'explain', '--plan', 'x', '--from', 'ACME', '--to', '+44'])
  expect(wrong.stderr).toBe('error: The request is not valid: --plan must be 24 hex digits\n')
})
