import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Shell, sectionOf, textsOf, withoutChance } from './support/document-commands.ts'
import { eventually } from './support/eventually.ts'
import {
  CTRL_C,
  cleanEnvironment,
  freePort,
  NODE_COMPILE_CACHE,
  ROOT,
  type Running,
  scratchFolder,
  serverProcesses,
  start,
  startInTerminal,
} from './support/process.ts'

const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

const WALK = sectionOf(README, '## A walk through it')
const [LISTEN, ...COMMANDS] = textsOf(WALK, 'sh')

describe('the commands of the README, on what npm start starts', () => {
  const folder = scratchFolder()
  let env: NodeJS.ProcessEnv
  let service: Running
  let listener: Running
  let shell: Shell

  beforeAll(async () => {
    env = {
      ALDIS_PORT: String(await freePort()),
      ALDIS_LISTEN_PORT: String(await freePort()),
      ALDIS_DATA_DIR: join(folder.path, 'data'),
      NODE_COMPILE_CACHE,
      // The warnings of whoever's npm configuration is here are not ours.
      npm_config_loglevel: 'error',
    }
    service = startInTerminal('npm start', { cwd: ROOT, env })
    await service.until(() => service.stdout.includes('Aldis is ready.'))
    listener = start('/bin/sh', ['-c', LISTEN!], { cwd: ROOT, env })
    await listener.until(() => listener.stdout.includes('Listening'))
    shell = new Shell({ cwd: ROOT, env })
  })
  afterAll(async () => {
    await shell?.[Symbol.asyncDispose]()
    await listener?.[Symbol.asyncDispose]()
    service?.write(CTRL_C)
    expect((await service?.exited)?.stdout).toContain('Stopping …')
    expect(serverProcesses(join(folder.path, 'data', 'postgres'))).toEqual([])
    folder[Symbol.dispose]()
  })

  test('the walk gives what is shown', async () => {
    const [env, send, lookUp, list, inbound, carriers, ...more] = COMMANDS as [string, ...string[]]
    expect(more).toEqual([])
    const [queued, changed, page] = textsOf(WALK, 'json').map((text) => JSON.parse(text))
    const delivered = { ...queued, ...changed }
    const [receipts, sent, received, table] = textsOf(WALK, 'text').map(withoutChance)
    const same = (text: string, shown: object) =>
      expect(JSON.parse(withoutChance(text))).toEqual(JSON.parse(withoutChance(JSON.stringify(shown))))
    const heard = () => withoutChance(listener.stdout.split('Ctrl-C ends it.\n')[1]!)

    await shell.type(env)
    same(await shell.type(send!), queued)
    await eventually(() => heard().includes('DELIVERED'))
    expect(heard()).toBe(receipts)
    same(await shell.type(lookUp!), delivered)
    const { items, pagination } = JSON.parse(await shell.type(list!))
    expect(pagination).toEqual(page)
    same(JSON.stringify(items), [delivered])
    expect(await shell.type(inbound!)).toBe(sent)
    await eventually(() => heard().includes('inbound'))
    expect(heard()).toBe(receipts! + received!)
    expect(withoutChance(await shell.type(carriers!))).toBe(table)
  })

  test("the banner's curl is answered 202", async () => {
    const curl = /^ {2}curl .+?'$/ms.exec(service.stdout.split('Send a message:')[1]!)![0]
    expect(await shell.type(curl)).toMatch(/^HTTP\/1\.1 202 Accepted\r\n/m)
  })

  test('the set-up of production works on a new service', async () => {
    const setUp = textsOf(sectionOf(README, '## Production'), 'sh').at(-1)!
    const { ALDIS_URL, ALDIS_OPERATOR_TOKEN } = Object.fromEntries(
      (await shell.type('npm run -s aldis -- dev env'))
        .trim()
        .split('\n')
        .map((line) => line.replace('export ', '').split('=') as [string, string]),
    )
    const filledIn = setUp
      .replace('http://localhost:8080', ALDIS_URL!)
      .replace('ALDIS_OPERATOR_TOKEN=…', `ALDIS_OPERATOR_TOKEN=${ALDIS_OPERATOR_TOKEN}`)
      .replace('ALDIS_CARRIER_PASSWORD=…', 'ALDIS_CARRIER_PASSWORD=secret')
    expect(filledIn).not.toContain('…')
    const output = await shell.type(`set -e\n${filledIn}`)
    expect(output).toMatch(/webhookSecret +whsec_/)
    expect(output).toMatch(/token +aldis_/)
  })
})

test('the environment of the tests does not reach the commands', () => {
  expect(cleanEnvironment({ A: 'b' }).ALDIS_URL).toBeUndefined()
  expect(cleanEnvironment({ A: 'b' }).A).toBe('b')
})
