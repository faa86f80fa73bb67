import { expect, test } from 'vitest'
import { formatWebhookSecret, signWebhook } from '../../src/domain/webhooks/requests.ts'
import { runAldis as runCommand } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { ROOT, type Running, runAldis, start, startAldis } from '../support/process.ts'

const SECRET = formatWebhookSecret(Buffer.alloc(32, 7))
const RECEIPT = {
  msgId: '0190a7b0-0000-7000-8000-000000000001',
  direction: 'MT',
  status: 'SENT',
  errorCode: '000',
}
const FAILURE = { ...RECEIPT, status: 'FAILED', errorCode: '203', errorMessage: 'Absent' }
const INBOUND = {
  msgId: '0190a7b0-0000-7000-8000-000000000002',
  direction: 'MO',
  from: '+15551230002',
  to: '+15550001000',
  keyword: 'HELLO',
  body: 'Hello "you"\u001b[2J\u202e',
}

async function listening(args: readonly string[]): Promise<{ listener: Running; url: string }> {
  const listener = startAldis(['listen', '--port', '0', ...args])
  const said = () => /Listening on (\S+)/.exec(listener.stdout + listener.stderr)?.[1]
  return { listener, url: await listener.until(said) }
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', body, headers })
  return { status: response.status, json: await response.json() }
}

/** What it printed for the webhooks, times taken out. */
function linesOf({ stdout }: Running): string[] {
  return stdout
    .split('\n')
    .filter((line) => /^\d\d:/.test(line))
    .map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3} {2}/, ''))
}

test('each webhook is answered 200 and printed in one line, harmless to a terminal', async () => {
  const { listener, url } = await listening([])
  await using _ = listener
  for (const [path, body] of [
    ['/receipts', JSON.stringify(RECEIPT)],
    ['/receipts', JSON.stringify(FAILURE)],
    ['/inbound', JSON.stringify(INBOUND)],
    ['/inbound', JSON.stringify({ type: 'capReached', percent: 80, text: '80 % of 10 messages a day' })],
    ['/any%0Apath', 'not JSON'],
    ['/', '{}'],
  ] as const)
    expect(await post(`${url}${path}`, body)).toEqual({ status: 200, json: { ok: true } })
  await listener.until(() => linesOf(listener).length === 6)
  expect(linesOf(listener)).toEqual([
    `receipt  ${RECEIPT.msgId}  SENT`,
    `receipt  ${RECEIPT.msgId}  FAILED  203 "Absent"`,
    `inbound  ${INBOUND.msgId}  +15551230002 -> +15550001000  "Hello \\"you\\"\\u001b[2J\\u202e"  keyword "HELLO"`,
    'limit    capReached  "80 % of 10 messages a day"',
    'other    "/any%0Apath"  "not JSON"',
    'other    "/"  {}',
  ])
  listener.kill('SIGTERM')
  expect(await listener.exited).toMatchObject({ code: 0, signal: null, stderr: '' })
})

test('with a secret, only what is signed with it is answered 200', async () => {
  const { listener, url } = await listening(['--secret', SECRET])
  await using _ = listener
  const body = JSON.stringify(RECEIPT)
  const signed = (secret: string) => ({
    ...signWebhook({ id: 'event', timestampMs: Date.now(), body }, [secret]),
  })
  const other = formatWebhookSecret(Buffer.alloc(32, 8))
  expect((await post(url, body, signed(SECRET))).status).toBe(200)
  expect(await post(url, body, signed(other))).toEqual({ status: 401, json: { ok: false } })
  expect((await post(url, `${body} `, signed(SECRET))).status).toBe(401)
  expect((await post(url, body)).status).toBe(401)
  await listener.until(() => linesOf(listener).length === 4)
  expect(linesOf(listener).map((line) => line.split('  ').at(-1))).toEqual([
    'signature valid',
    'signature wrong',
    'signature wrong',
    'signature missing',
  ])
})

test('--json prints one object a line, and nothing else on standard output', async () => {
  const { listener, url } = await listening(['--json'])
  await using _ = listener
  await post(`${url}/receipts?a=1`, JSON.stringify(RECEIPT))
  await listener.until(() => listener.stdout.endsWith('\n'))
  expect(JSON.parse(listener.stdout)).toEqual({
    receivedAt: expect.stringMatching(/Z$/),
    path: '/receipts?a=1',
    signature: 'unchecked',
    webhook: RECEIPT,
  })
})

test('a body beyond a mebibyte is answered 413', async () => {
  const { listener, url } = await listening([])
  await using _ = listener
  expect((await post(url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413)
})

test('started by npm run, it ends when npm is killed', async () => {
  await using npm = start('npm', ['run', '-s', 'aldis', '--', 'listen', '--port', '0'], { cwd: ROOT })
  const url = await npm.until(() => /Listening on (http:\S+)/.exec(npm.stdout)?.[1])
  npm.kill('SIGTERM')
  const isGone = () =>
    fetch(url).then(
      () => false,
      () => true,
    )
  expect(await eventually(isGone)).toBe(true)
})

test('a port in use is refused in one line', async () => {
  const { listener, url } = await listening([])
  await using _ = listener
  const { port } = new URL(url)
  expect(await runAldis(['listen', '--port', port])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `error: port ${port} is in use; choose another with --port\n`,
  })
})

test.each([
  ['--port', 'http', 'expected a port from 0 to 65535'],
  ['--secret', 'hunter2', 'expected a webhook secret: whsec_ and base64'],
])('%s %s is refused in one line', async (flag, text, reason) => {
  const exit = await runCommand(['listen', flag, text])
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(new RegExp(`^error: .*${reason}\n$`))
})
