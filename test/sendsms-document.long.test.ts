import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Shell, sectionOf, textsOf } from './support/document-commands.ts'
import { ROOT } from './support/process.ts'
import { type Service, startService } from './support/service.ts'
import type { WebhookReceiver } from './support/webhook-receiver.ts'

/** What docs/sendsms.md tells to type, typed. The short form of all typed documents is typed-documents.test.ts. */

const WALK = sectionOf(readFileSync(join(ROOT, 'docs/sendsms.md'), 'utf8'), '## A walk through it')
const [SETTING, ...COMMANDS] = textsOf(WALK, 'sh')

let service: Service
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await startService({ app: { cgiSendsms: true } })
  receiver = await service.anotherReceiver()
})
afterAll(() => service?.[Symbol.asyncDispose]())

test('the walk gives what is shown', async () => {
  const [create, send, post, change, ...more] = COMMANDS as [string, string, string, string]
  expect(more).toEqual([])
  expect(SETTING).toBe('export ALDIS_URL=http://localhost:8080 ALDIS_OPERATOR_TOKEN=… ALDIS_PLAN=…\n')
  const { app, operatorToken, servicePlanId } = service
  const env = { ALDIS_URL: app.url, ALDIS_OPERATOR_TOKEN: operatorToken, ALDIS_PLAN: servicePlanId }
  await using shell = new Shell({ env })
  const type = (block: string) => shell.type(block.replaceAll('https://hooks.example.com', receiver.origin))
  const accepted = textsOf(WALK, 'text')[0]!.trim()
  await type(create)
  expect(await type(send)).toBe(accepted)
  expect((await receiver.next()).path).toBe('/dlr?id=7&type=1')
  expect(await type(post)).toBe(accepted)
  await type(change)
  expect(await type(post)).toBe('Authorization failed for sendsms')
  expect(shell.stderr).toBe('')
})
