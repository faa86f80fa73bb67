import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAldis } from '../support/cli.ts'
import { cuttingProxy } from '../support/cutting-proxy.ts'
import { MAIN, type Running, scratchFolder, start, startAldis } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const folder = scratchFolder()
let service: Service
/** Every eighth send arrives, and its answer is lost. */
let losing: Awaited<ReturnType<typeof cuttingProxy>>

beforeAll(async () => {
  service = await startService({ webhooks: false })
  let sends = 0
  losing = await cuttingProxy({ connectionString: service.app.url }, (sent) => {
    const isSend = sent.startsWith('POST /v1/sendsms HTTP')
    if (isSend) sends += 1
    return isSend && sends % 8 === 7
  })
})
afterAll(async () => {
  await losing?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const HELLO = ['--text', 'Hello {name}']
/** Recipients that a test has for itself, so that it can count its messages. */
let series = 0

/** A file with that many lines, or with these. */
function campaign(lines: number | readonly string[]) {
  series += 1
  const csv = join(folder.path, `numbers-${series}.csv`)
  const prefix = `+1555${String(series).padStart(2, '0')}`
  const rows =
    typeof lines === 'number'
      ? Array.from({ length: lines }, (_, n) => `${prefix}${String(n).padStart(5, '0')},N${n}`)
      : lines
  const write = (text: readonly string[]) => writeFileSync(csv, `to,name\n${text.join('\n')}\n`)
  write(rows)
  const path = csv.replace('.csv', '.results.csv')
  const file = {
    csv,
    path,
    rows,
    write,
    /** The rows about lines. */
    results: () =>
      (parse(readFileSync(path, 'utf8'), { columns: true }) as Record<string, string>[]).filter(
        ({ line }) => line !== '',
      ),
    /** Expects that each line was accepted, and that the service has one message of each. */
    async untilWhole(count = rows.length) {
      const accepted = file.results().filter(({ status }) => status === 'QUEUED')
      expect(accepted.map(({ line }) => Number(line)).sort((a, b) => a - b)).toEqual(
        Array.from({ length: count }, (_, n) => n + 2),
      )
      expect(new Set(accepted.map(({ msgId }) => msgId)).size).toBe(count)
      expect(await messagesTo(prefix)).toEqual(accepted.map(({ to }) => to).sort())
    },
  }
  return file
}

/** Recipients of all messages of the plan that begin so. */
async function messagesTo(prefix: string): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const query: Record<string, string> =
      cursor === null ? { fromDate: new Date(Date.now() - 3_600_000).toISOString() } : { cursor }
    const { body } = await service.list({ ...query, limit: '100' })
    found.push(...body.items.map(({ to }: { to: string }) => to))
    cursor = body.pagination.nextCursor
    if (cursor === null) return found.filter((to) => to.startsWith(prefix)).sort()
  }
}

function environment(url = service.app.url) {
  return { ALDIS_URL: url, ALDIS_TOKEN: service.token, ALDIS_PLAN: service.servicePlanId }
}

function send(...args: string[]) {
  return runAldis(['send', '--from', 'Aldis', ...args], { env: environment() })
}

function sendInProcess(...args: string[]): Running {
  const env = environment(losing.connectionString)
  return startAldis(['send', '--from', 'Aldis', ...args], { env })
}

test('one message: its record, or why not', async () => {
  const key = ['--idempotency-key', 'order-7']
  const first = await send('--to', '+15559999999', '--text', 'Hello', ...key)
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^status +QUEUED$/m) })
  const { msgId } = JSON.parse(
    (await send('--to', '+15559999999', '--text', 'Hello', ...key, '--json')).stdout,
  )
  expect(first.stdout).toContain(msgId)
  expect(await send('--to', '123', '--text', 'Hello')).toMatchObject({
    code: 1,
    stderr: 'error: VALIDATION_ERROR: to must be one E.164 number\n',
  })
})

test('a request that cannot be made is not tried', async () => {
  const one = ['--to', '+15559999998', '--text', 'Hello']
  const withPassword = service.app.url.replace('//', '//me:hush@')
  for (const [args, message] of [
    [
      ['--idempotency-key', 'ключ'],
      /^error: option '--idempotency-key <key>' .* visible ASCII characters\n$/,
    ],
    [['--idempotency-key', ''], /^error: option '--idempotency-key <key>' .* visible ASCII characters\n$/],
    [['--url', withPassword], /^error: the address of the service must have no user name and no password\n$/],
  ] as const)
    expect(await send(...one, ...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
})

test('every fault of a file is told with its line, and nothing is sent', async () => {
  const file = campaign(['12345,A', '+15551230001,', '+15551230002', '+15551230003,B', '+15551230004,\ufffd'])
  const { code, stderr } = await send('--csv', file.csv, ...HELLO)
  expect(code).toBe(1)
  expect(stderr.split('\n')).toEqual([
    'error: nothing was sent',
    `${file.csv}:2: to must be one E.164 number`,
    `${file.csv}:3: name is empty`,
    `${file.csv}:4: has 1 fields, but the header has 2`,
    `${file.csv}:6: the text is not in UTF-8: save the file as UTF-8`,
    '',
  ])
  expect(existsSync(file.path)).toBe(false)
  for (const [args, message] of [
    [['--text', 'Hello {nmae}'], '--text has {nmae}, but the file has no such column, only to, name'],
    [[], 'give the text with --text, or in a column text'],
    [['--text', 'Hello {name'], '--text has a single {. For a brace, write {{'],
    [['--text', 'x', '--resume'], `${file.path} does not exist: there is no run to continue`],
    [['--to', '+1'], '--to and --idempotency-key are for one message'],
  ] as const)
    expect((await send('--csv', file.csv, ...args)).stderr).toContain(message)
  expect((await send('--csv', folder.path, ...HELLO)).stderr).toContain(`${folder.path} is a folder`)
})

test('a dry run counts segments and asks the service about a message to each country', async () => {
  const file = campaign([
    '+15551230001,A',
    '+46701740605,Å',
    '+1 (555) 123-0002,č',
    `0046701740606,${'x'.repeat(160)}`,
  ])
  const { stdout, code } = await send('--csv', file.csv, '--text', '{{{name}}}', '--dry-run')
  expect(code).toBe(0)
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).join('|'))).toEqual([
    'messages|4',
    'segments|5',
    '',
    'COUNTRY|MESSAGES|SEGMENTS|UCS2|LINE|ROUTE|PRICE|REFUSAL',
    'US|2|2|1|2|default|-|-',
    'SE|2|3|0|3|default|-|-',
    '',
  ])
  expect(existsSync(file.path)).toBe(false)
  const refused = await runAldis(['send', '--from', 'Other', '--csv', file.csv, ...HELLO], {
    env: environment(),
  })
  expect(refused.stderr).toMatch(
    /^error: nothing was sent, because messages would be refused with SENDER_NOT/,
  )
})

test('a dry run counts what smart encoding saves, and repeats a question whose answer is lost', async () => {
  const path = `/service-plans/${service.servicePlanId}`
  await service.admin('PATCH', path, { smartEncoding: true })
  let questions = 0
  await using cutting = await cuttingProxy({ connectionString: service.app.url }, (sent) => {
    if (!sent.startsWith('POST /v1/sendsms/preflight')) return false
    questions += 1
    return questions === 1
  })
  try {
    await expect.poll(async () => (await service.admin('GET', path)).smartEncoding).toBe(true)
    const file = campaign([`+15551230001,${'\u201c'.repeat(100)}`, `+15551230002,${'\u201c'.repeat(60)}č`])
    const args = ['send', '--from', 'Aldis', '--csv', file.csv, '--text', '{name}', '--dry-run']
    const { stdout, stderr } = await runAldis(args, { env: environment(cutting.connectionString) })
    expect(stdout.split('\n')[4]!.split(/ {2,}/)).toEqual(['US', '2', '2', '1', '2', 'default', '-', '-'])
    expect(stderr).toContain('; retrying for 30 s\n')
  } finally {
    await service.admin('PATCH', path, { smartEncoding: false })
  }
})

test('a disk without room for results ends the run, which is continued later', async () => {
  const file = campaign(60)
  const env = environment()
  const args = ['send', '--from', 'Aldis', '--csv', file.csv, ...HELLO, '--in-flight', '2']
  // Files may have 2 or 4 KiB, by the shell. Beyond that, a write fails as it does on a full disk.
  const script = 'ulimit -f 4; exec "$0" "$@"'
  await using limited = start('/bin/sh', ['-c', script, process.execPath, MAIN, ...args], { env })
  const { code, stderr } = await limited.exited
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(
      'cannot write results: EFBIG. Nothing is lost: repeat the command with --resume',
    ),
  })
  expect(readFileSync(file.path, 'utf8').split('\n').length).toBeLessThan(60)
  expect(await send(...args.slice(3), '--resume')).toMatchObject({ code: 0 })
  await file.untilWhole()
})

test('killed twice while answers are lost, it sends each line once', async () => {
  const file = campaign(100)
  const args = ['--csv', file.csv, ...HELLO, '--rate', '200', '--in-flight', '16']
  for (const rows of [20, 50]) {
    await using running = sendInProcess(...args, ...(rows === 20 ? [] : ['--resume']))
    await running.until(
      () => existsSync(file.path) && readFileSync(file.path, 'utf8').split('\n').length > rows,
    )
    running.kill('SIGKILL')
    await running.exited
    // As if the kill had hit a write.
    writeFileSync(file.path, '2026-11-23T17:00:00.000Z,99,+1555', { flag: 'a' })
  }
  expect((await send(...args)).stderr).toContain('exists: continue that run with --resume')
  const { code, stdout } = await send(...args, '--resume')
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+ accepted.* 0 refused; results in/),
  })
  await file.untilWhole()
  // Without its results, it is the keys that keep lines from being sent again.
  writeFileSync(file.path, '')
  expect((await send(...args, '--resume')).stdout).toContain(
    '100 accepted (100 of them had been accepted before)',
  )
  await file.untilWhole()
})

test('paused by Ctrl-C, it continues where it was; a sent line may not be changed, others may', async () => {
  const file = campaign(60)
  const args = ['--csv', file.csv, ...HELLO, '--in-flight', '2']
  await using running = sendInProcess(...args, '--rate', '40', '--json')
  await running.until(() => existsSync(file.path) && file.results().length >= 10)
  running.kill('SIGINT')
  const { code, stdout, stderr } = await running.exited
  expect(code).toBe(130)
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({ state: 'paused', trouble: null })
  expect(stderr).toMatch(/^Paused\. To continue, repeat the command with --resume/)
  const [first, ...others] = file.rows
  file.write([`${first!}x`, ...others])
  const changed = `${file.csv}:2: was sent already, with another text or other options\n`
  expect((await send(...args, '--resume')).stderr).toBe(`error: nothing was sent\n${changed}`)
  expect((await send(...args, '--campaign', 'again', '--resume')).stderr).toContain(changed)
  const last = others.pop()!
  file.write([first!, ...others, `${last}y`])
  expect(await send(...args, '--resume', '--rate', '10000')).toMatchObject({ code: 0 })
  await file.untilWhole()
})

test('a rate limit is waited for', async () => {
  const rateLimit = { messagesPerSecond: 30, burst: 10 }
  const path = `/service-plans/${service.servicePlanId}`
  await service.admin('PATCH', path, { rateLimit })
  try {
    await expect
      .poll(async () => {
        const answers = await Promise.all(
          Array.from({ length: 12 }, () => service.send({ to: '+15559999998' })),
        )
        return answers.some(({ status }) => status === 429)
      })
      .toBe(true)
    const file = campaign(20)
    expect(await send('--csv', file.csv, ...HELLO)).toMatchObject({ code: 0 })
    await file.untilWhole()
  } finally {
    await service.admin('PATCH', path, { rateLimit: null })
  }
})

test('refused lines are in the results; many in a row end the run, and are not repeated unless asked', async () => {
  const rules = { country: 'SE', senderTypes: ['e164'] }
  const { servicePlanId } = service
  const { ruleId } = await service.admin('POST', '/sender-rules', { ...rules, servicePlanId })
  await expect.poll(async () => (await service.send({ to: '+46701740605' })).status).toBe(403)
  const swedish = Array.from({ length: 100 }, (_, n) => `+467017${String(n).padStart(5, '0')},N`)
  const file = campaign(['+15558880001,A', ...swedish, '+15558880002,B'])
  const args = ['--csv', file.csv, ...HELLO, '--in-flight', '1']
  const first = await send(...args)
  expect(first).toMatchObject({ code: 1, stdout: expect.stringContaining('1 accepted, 100 refused') })
  expect(first.stderr).toContain(
    'Paused: 100 messages in a row were refused, the last with SENDER_NOT_AUTHORIZED',
  )
  expect(file.results().slice(1, 3)).toMatchObject([
    { line: '3', to: '+46701700000', status: 'REFUSED', msgId: '', errorCode: 'SENDER_NOT_AUTHORIZED' },
    { line: '4' },
  ])
  expect(await send(...args, '--resume')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 accepted'),
  })
  await service.admin('DELETE', `/sender-rules/${ruleId}`)
  await expect.poll(async () => (await service.send({ to: '+46701740605' })).status).toBe(202)
  const again = await send(...args, '--resume', '--retry-refused')
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('100 accepted, 0 refused') })
})

test('a run that broke off too long ago is not continued: the service has forgotten its keys', async () => {
  const file = campaign(3)
  expect(await send('--csv', file.csv, ...HELLO)).toMatchObject({ code: 0 })
  const [header, started, first] = readFileSync(file.path, 'utf8').split('\n')
  const old = [started!, first!].map((row) => row.replace(/^[^,]+/, '2026-01-01T00:00:00.000Z'))
  // A later run did not get to what the first one may have sent.
  writeFileSync(file.path, [header, ...old, started, ''].join('\n'))
  const args = ['--csv', file.csv, ...HELLO, '--resume']
  expect((await send(...args)).stderr).toContain('broke off at 2026-01-01T00:00:00.000Z, more than 23 h ago')
  expect(await send(...args, '--allow-repeats')).toMatchObject({ code: 0 })
  await file.untilWhole()
  expect(await send(...args)).toMatchObject({ code: 0, stdout: expect.stringContaining('0 accepted') })
})

test('standard input, with a text on each line and a byte order mark', async () => {
  const path = join(folder.path, 'piped.csv')
  const stdin = '\ufefftext;,to,text\r\nignored,+15557770001,"Hello, ""A"""\r\n,+15557770002,{B}\r\n'
  const args = ['send', '--from', 'Aldis', '--csv', '-', '--results', path]
  expect(await runAldis(args, { env: environment(), stdin })).toMatchObject({ code: 0 })
  const { body } = await service.list({ to: '+15557770001' })
  expect(body.items).toMatchObject([{ body: 'Hello, "A"' }])
  expect((await service.list({ to: '+15557770002' })).body.items).toMatchObject([{ body: '{B}' }])
})
