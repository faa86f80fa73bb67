import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatWebhookSecret, signWebhook } from '../../src/domain/webhooks/requests.ts'
import { PLAN, startHttpService, TOKEN } from '../support/http-service.ts'
import { ROOT, scratchFolder, start } from '../support/process.ts'
import { startService } from '../support/service.ts'

/** The package as npm packs it. The short form is client.test.ts: the same client, from its sources. */

const folder = scratchFolder()
const app = join(folder.path, 'app')
const installed = join(app, 'node_modules', 'aldis-client')

async function run(command: string, args: readonly string[], options: object = {}): Promise<string> {
  await using running = start(command, args, { cwd: app, ...options })
  const { code, stdout, stderr } = await running.exited
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`)
  return stdout
}

/** As npm installs it: packed, unpacked, and nothing beside it. */
beforeAll(async () => {
  mkdirSync(installed, { recursive: true })
  await run('npm', ['pack', '--pack-destination', folder.path], { cwd: join(ROOT, 'client') })
  const [tarball] = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'))
  await run('tar', ['-xzf', join(folder.path, tarball!), '-C', installed, '--strip-components=1'])
})
afterAll(() => folder[Symbol.dispose]())

test('the package has JavaScript, types, licence, and nothing to install', () => {
  const files = readdirSync(installed, { recursive: true }).map(String)
  for (const name of ['README.md', 'dist/LICENSE', 'dist/index.js', 'dist/index.d.ts']) {
    expect(files).toContain(name)
  }
  expect(files.filter((name) => /(^|[^d])\.ts$|^src|tsconfig/.test(name))).toEqual([])
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([])
})

/** The Node that this machine has, which may be older than the one the service runs on. */
const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))

test("it works on this machine's Node", async () => {
  await using service = await startHttpService()
  const secret = formatWebhookSecret(randomBytes(32))
  const body = '{"msgId":"m","status":"SENT"}'
  const headers = signWebhook({ id: 'm-1', timestampMs: Date.now(), body }, [secret])
  const script = join(app, 'script.js')
  writeFileSync(
    script,
    `const { AldisClient, verifyWebhook } = await import('aldis-client')
    const client = new AldisClient({ baseUrl: 'http://127.0.0.1:${service.port}', token: '${TOKEN}' })
    const sms = { servicePlanId: '${PLAN}', channel: 'SMS', from: '12345', to: '+15551230001', body: 'hello' }
    const { msgId } = await client.sendSms(sms, { timeoutMs: 20_000, signal: new AbortController().signal })
    for await (const item of client.items('listMessages', { servicePlanId: '${PLAN}', status: 'QUEUED' })) {
      console.log(item.msgId === msgId)
    }
    const { errorCode } = await client.sendSms({ ...sms, to: 'nobody' }).catch((error) => error)
    const event = await verifyWebhook(${JSON.stringify(headers)}, '${body}', '${secret}')
    console.log(errorCode, event.eventId, Number(process.versions.node.split('.')[0]) >= 20)`,
  )
  // The script is CommonJS by its folder, and imports what is not.
  const stdout = await run('/usr/bin/env', ['node', script], { env: { PATH: path.join(delimiter) } })
  expect(stdout).toBe('true\nVALIDATION_ERROR m-1 true\n')
})

test('what its README shows sets up a customer and sends a message', async () => {
  await using service = await startService()
  const [, shown] = blocks.find(([name]) => name === 'client/README.md, 1')!
  const program = shown.replace('https://sms.example.net', service.app.url)
  writeFileSync(join(app, 'shown.mts'), program.replace('operator-token', service.operatorToken))
  const stdout = await run(process.execPath, ['shown.mts'])
  expect(stdout).toMatch(/\nExample\n\{.*body: 'Your code is 123456'/s)
})

test('its types are whole, and are those of the API', async () => {
  writeFileSync(
    join(app, 'consumer.mts'),
    `import { AldisClient, type DeliveryReceipt, verifyWebhook } from 'aldis-client'
    import { AldisAdminClient } from 'aldis-client/admin'
    const admin = new AldisAdminClient({ baseUrl: 'https://sms.example.net', token: 'x' })
    const { webhooks } = await admin.getQueue()
    for await (const { state } of admin.items('listCarriers', {})) state satisfies 'started' | 'draining' | 'stopped'
    // @ts-expect-error an account needs a name
    admin.createAccount({})
    // @ts-expect-error it is no list
    admin.items('getQueue', {})
    const client = new AldisClient({ baseUrl: 'https://sms.example.net', token: 'aldis_x' })
    for await (const message of client.items('listMessages', { servicePlanId: 'x', status: 'FAILED' })) {
      const receipt: DeliveryReceipt = message
      // @ts-expect-error it has no such field
      receipt.colour
    }
    const event = await verifyWebhook(new Headers(), new Uint8Array(), ['whsec_x'])
    if (event.type === 'inboundMessage') event.data.receivedAt.slice()
    if (event.type === 'deliveryReceipt') event.data.status satisfies string
    // @ts-expect-error it is not known
    if (event.type === 'unknown') event.data.status
    // @ts-expect-error no such status
    client.listMessages({ servicePlanId: 'x', status: 'LOST' })
    // @ts-expect-error not without a plan
    client.getMessage({ msgId: 'x' })`,
  )
  await compile('consumer.mts')
})

const blocks = ['docs/client.md', 'client/README.md'].flatMap((name) =>
  [...readFileSync(join(ROOT, name), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, block], index) => [`${name}, ${index + 1}`, block!] as const,
  ),
)

test('what the documents show can be compiled', async () => {
  expect(blocks.length).toBeGreaterThan(4)
  const names = blocks.map(([, block], index) => {
    writeFileSync(join(app, `shown-${index}.mts`), block)
    return `shown-${index}.mts`
  })
  await compile(...names)
})

/** As somebody who uses the package does: strictly, its own types included. */
async function compile(...names: string[]): Promise<void> {
  const options = '--strict --noEmit --target es2022 --module nodenext --lib es2022,dom,dom.iterable'
  await run(join(ROOT, 'node_modules', '.bin', 'tsc'), [...options.split(' '), ...names])
}
