import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN, ROOT, start } from './support/process.ts'
import { type Service, startService } from './support/service.ts'
import type { WebhookReceiver } from './support/webhook-receiver.ts'

/** What docs/sendsms.md tells to type, typed. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/sendsms.md'), 'utf8')
const WALK = DOCUMENT.split('## A walk through it\n')[1]!.split('\n## ')[0]!
const blocks = (language: string) =>
  [...WALK.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, block]) =>
    found === language ? [block!] : [],
  )
const [SETTING, ...COMMANDS] = blocks('sh')

let service: Service
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await startService({ app: { sendsms: true } })
  receiver = await service.anotherReceiver()
})
afterAll(() => service?.[Symbol.asyncDispose]())

async function type(block: string): Promise<string> {
  const names = [...SETTING!.matchAll(/(ALDIS_\w+)=/g)].map(([, name]) => name!) as [string, string, string]
  const [url, token, plan] = names
  const { app, operatorToken, servicePlanId } = service
  const env = { [url]: app.url, [token]: operatorToken, [plan]: servicePlanId }
  const aldis = `aldis() { '${process.execPath}' '${MAIN}' "$@"; }`
  const typed = block.replaceAll('https://hooks.example.com', receiver.origin)
  await using running = start('/bin/sh', ['-ec', `${aldis}\n${typed}`], { env })
  const { code, stdout, stderr } = await running.exited
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

test('the walk gives what is shown', async () => {
  const [create, send, post, change, ...more] = COMMANDS as [string, string, string, string]
  expect(more).toEqual([])
  const accepted = blocks('text')[0]!.trim()
  await type(create)
  expect(await type(send)).toBe(accepted)
  expect((await receiver.next()).path).toBe('/dlr?id=7&type=1')
  expect(await type(post)).toBe(accepted)
  await type(change)
  expect(await type(post)).toBe('Authorization failed for sendsms')
})
