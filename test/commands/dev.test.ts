import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runAldis as runCommand } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lookUp, runAldis, scratchFolder, send, serverProcesses, startDev } from '../support/process.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

function statusOf({ body }: { body: string }): string {
  return (JSON.parse(body) as { status: string }).status
}

describe('aldis dev', () => {
  const folder = scratchFolder()
  let dev: Awaited<ReturnType<typeof startDev>>
  let receiver: WebhookReceiver

  beforeAll(async () => {
    receiver = await startWebhookReceiver()
    dev = await startDev(folder.path, ['--listen-port', String(receiver.port)])
  })
  afterAll(async () => {
    await dev[Symbol.asyncDispose]()
    await receiver.close()
    folder[Symbol.dispose]()
  })

  test('the ready file has everything a client needs, readable by its owner only', async () => {
    expect(dev.ready).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      accountId: expect.stringMatching(/^[0-9a-f]{24}$/),
      servicePlanId: expect.stringMatching(/^[0-9a-f]{24}$/),
      token: expect.stringMatching(/^aldis_/),
      operatorToken: expect.stringMatching(/^operator_/),
      sender: 'Aldis',
      inboundNumber: '+15550001000',
      databaseUrl: expect.stringMatching(/^postgresql:\/\//),
    })
    expect(statSync(join(folder.path, 'ready.json')).mode & 0o777).toBe(0o600)
  })

  test('a message is delivered, with a webhook for SENT and then one for DELIVERED', async () => {
    const { status, json } = await send(dev.ready, { callbackUrl: `${receiver.origin}/receipts` })
    expect([status, json.status]).toEqual([202, 'QUEUED'])
    const ofMessage = ({ path, body }: { path: string; body: string }) =>
      path === '/receipts' && body.includes(json.msgId)
    expect(statusOf(await receiver.next(ofMessage))).toBe('SENT')
    expect(statusOf(await receiver.next(ofMessage))).toBe('DELIVERED')
    const found = await lookUp(dev.ready, json.msgId)
    expect(found.json).toMatchObject({ status: 'DELIVERED', errorCode: '000', mccmnc: '310260', segments: 1 })
  })

  test("the banner's curl is the request it says", () => {
    const { baseUrl, token, servicePlanId } = dev.ready
    const { stdout } = dev.running
    expect(stdout).toContain(`curl -i ${baseUrl}/v1/sendsms`)
    expect(stdout).toContain(`-H 'Authorization: Bearer ${token}'`)
    const body = JSON.parse(/-d '(.+)'/.exec(stdout)![1]!) as object
    expect(body).toMatchObject({ servicePlanId, channel: 'SMS', from: 'Aldis' })
  })

  test("the banner's address of the console signs in", () => {
    const { baseUrl, token, operatorToken } = dev.ready
    expect(dev.running.stdout).toContain(
      `  Console          ${baseUrl}/console/#customer=${token}&operator=${operatorToken}\n`,
    )
  })

  test('dev inbound to a number that no plan owns says so', async () => {
    const args = ['--data-dir', dev.dataDir, '--from', '+15551230002', '--to', '+15559998888', '--body', 'x']
    const { code, stdout, stderr } = await runCommand(['dev', 'inbound', ...args])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe('error: no service plan owns +15559998888: aldis number create gives it to one\n')
  })

  test('dev inbound brings a message to the inbound URL, with the keyword it begins with', async () => {
    const text = `Hello there ${'é'.repeat(200)}`
    const from = '+15551230002'
    const sent = await runCommand([
      'dev',
      'inbound',
      '--data-dir',
      dev.dataDir,
      '--from',
      from,
      '--body',
      text,
    ])
    expect(sent).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `Sent from ${from} to ${dev.ready.inboundNumber}.\n`,
    })
    const { body } = await receiver.next(({ path }) => path === '/inbound')
    expect(JSON.parse(body)).toEqual({
      accountId: dev.ready.accountId,
      servicePlanId: dev.ready.servicePlanId,
      msgId: expect.any(String),
      channel: 'SMS',
      direction: 'MO',
      from,
      to: dev.ready.inboundNumber,
      keyword: 'HELLO',
      body: text,
      receivedAt: expect.stringMatching(/Z$/),
    })
  })

  test("Kannel's interface is served", async () => {
    const answer = await fetch(`${dev.ready.baseUrl}/cgi-bin/sendsms`)
    expect([answer.status, await answer.text()]).toEqual([403, 'Authorization failed for sendsms'])
  })

  test('dev env prints shell variables', async () => {
    const { ready, dataDir } = dev
    const { stdout, code } = await runCommand(['dev', 'env', '--data-dir', dataDir])
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      `export ALDIS_URL=${ready.baseUrl}`,
      `export ALDIS_TOKEN=${ready.token}`,
      `export ALDIS_PLAN=${ready.servicePlanId}`,
      `export ALDIS_OPERATOR_TOKEN=${ready.operatorToken}`,
      `export ALDIS_LISTENER=http://localhost:${receiver.port}`,
      '',
    ])
  })

  test('a second one on the same data directory is refused in one line', async () => {
    const second = await runCommand(['dev', '--port', '0', '--data-dir', dev.dataDir])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(/^error: the data directory .+ is in use by another aldis process\n$/)
  })

  test('a port in use is refused in one line, before anything is made', async () => {
    using other = scratchFolder()
    const port = new URL(dev.ready.baseUrl).port
    const second = await runCommand(['dev', '--port', port, '--data-dir', join(other.path, 'data')])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toBe(`error: port ${port} is in use; choose another with --port\n`)
    expect(existsSync(join(other.path, 'data'))).toBe(false)
  })

  // From here on each test goes on with what the one before it has left.
  test('kill -9, and the next start has data and tokens, and has changed nothing', async () => {
    const before = dev.ready
    const env = () => ({ ALDIS_URL: dev.ready.baseUrl, ALDIS_OPERATOR_TOKEN: before.operatorToken })
    const changes = async () => (await runCommand(['audit-log', 'list', '--json'], { env: env() })).stdout
    const log = await changes()
    const { json } = await send(before)
    dev.running.kill('SIGKILL')
    await dev.running.exited
    dev = await startDev(folder.path, ['--listen-port', String(receiver.port)])
    const { baseUrl, ...same } = dev.ready
    expect(before).toMatchObject(same)
    expect(log).not.toBe('')
    expect(await changes()).toBe(log)
    expect((await lookUp(dev.ready, json.msgId)).json.msgId).toBe(json.msgId)
  })

  test('SIGTERM leaves nothing; the next start has the tokens, and starts the carrier that was stopped', async () => {
    const before = dev.ready
    const env = { ALDIS_URL: before.baseUrl, ALDIS_OPERATOR_TOKEN: before.operatorToken }
    expect((await runCommand(['carrier', 'stop', 'sandbox'], { env })).code).toBe(0)
    dev.running.kill('SIGTERM')
    expect(await dev.running.exited).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(serverProcesses(join(dev.dataDir, 'postgres'))).toEqual([])

    dev = await startDev(folder.path, ['--strict-callbacks'])
    expect(dev.ready).toMatchObject({ token: before.token, servicePlanId: before.servicePlanId })
    const sent = await send(dev.ready)
    await eventually(async () => (await lookUp(dev.ready, sent.json.msgId)).json.status === 'DELIVERED')
  })

  test('--strict-callbacks refuses loopback callbacks', async () => {
    for (const callbackUrl of ['http://localhost:9000/x', 'https://127.0.0.1/x', 'http://example.com/x']) {
      const { status, json } = await send(dev.ready, { callbackUrl })
      expect([callbackUrl, status, json.errorCode]).toEqual([callbackUrl, 400, 'VALIDATION_ERROR'])
      expect(json.errors.map(({ field }: { field: string }) => field)).toEqual(['callbackUrl'])
    }
  })

  test('SIGINT ends it with nothing left', async () => {
    dev.running.kill('SIGINT')
    expect(await dev.running.exited).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(serverProcesses(join(dev.dataDir, 'postgres'))).toEqual([])
  })

  test('a ready file that cannot be written is refused in one line, with nothing left', async () => {
    const readyFile = join(folder.path, 'missing', 'ready.json')
    const exit = await runAldis(['dev', '--port', '0', '--data-dir', dev.dataDir, '--ready-file', readyFile])
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toMatch(/^error: cannot write .+\n$/)
    expect(serverProcesses(join(dev.dataDir, 'postgres'))).toEqual([])
  })

  test('the ready file of an earlier run is gone when the next fails', async () => {
    const earlier = join(folder.path, 'ready.json')
    expect(existsSync(earlier)).toBe(true)
    await runCommand(['dev', '--data-dir', '/proc/aldis', '--ready-file', earlier])
    expect(existsSync(earlier)).toBe(false)
  })
})

test.each([
  ['a port that is none', ['--port', 'http'], /'http' is invalid\. expected a port/],
  ['a port too high', ['--port', '65536'], /expected a port from 0 to 65535/],
  ['an unknown flag', ['--prot', '8080'], /unknown option '--prot' .*--port/],
  ['a port no receiver can have', ['--listen-port', '0'], /expected the port of a receiver, from 1 to 65535/],
  ['an unknown log level', ['--log-level', 'loud'], /Allowed choices are trace, debug, info, warn, error/],
  ['a ready file that is a folder', ['--ready-file', '/proc'], /cannot write \/proc \(E\w+\)/],
  ['an argument too many', ['now'], /unknown command 'now'|too many arguments/],
])('%s is refused in one line', async (_, args, line) => {
  const exit = await runCommand(['dev', ...args])
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(line)
  expect(exit.stderr.match(/\n/g)).toHaveLength(1)
})

test('a directory that cannot be written is refused in one line, whoever asks', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  for (const dataDir of [join(file, 'data'), '/proc/aldis']) {
    const exit = await runCommand(['dev', '--port', '0', '--data-dir', dataDir])
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toMatch(/^error: cannot write the data directory .+\n$/)
  }
})

test('dev inbound and dev env where nothing was started: one line', async () => {
  using folder = scratchFolder()
  for (const args of [['env'], ['inbound', '--from', '+15551230002', '--body', 'x']]) {
    const exit = await runCommand(['dev', ...args, '--data-dir', folder.path])
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toBe(`error: aldis dev was never started in ${folder.path}\n`)
  }
})
