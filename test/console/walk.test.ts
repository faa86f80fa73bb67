import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESK, type Look, openConsole, PHONE } from '../support/console-page.ts'
import { ROOT } from '../support/process.ts'
import { CARRIER, type Service, startService } from '../support/service.ts'

/** Some thirty pages, in four looks in the project `long`: a busy machine needed most of the two minutes that other tests have. */
const TIMEOUT_MS = 360_000

let service: Service
/** Of a message that was delivered, and of its first event. */
let msgId: string
let eventId: string

beforeAll(async () => {
  service = await startService()
  msgId = await service.sent()
  await service.until(msgId, 'DELIVERED')
  await service.recorded(msgId)
  const { items } = await service.admin('GET', `/webhook-events?servicePlanId=${service.servicePlanId}`)
  eventId = items[0].eventId
})
afterAll(() => service[Symbol.asyncDispose]())

/** Paths as the routes of the page groups have them, with the ids of things that are there. */
function pathsOf(side: 'customer' | 'operator'): string[] {
  const ids: Record<string, string> = { $msgId: msgId, $eventId: eventId, $name: CARRIER }
  const files = globSync('console/src/pages/*/routes.tsx', { cwd: ROOT }).sort()
  const paths = files.flatMap((file) => {
    const routes = readFileSync(join(ROOT, file), 'utf8').matchAll(
      /=> (customer|operator)Route,\s+path: '([^']+)'/g,
    )
    return [...routes].filter(([, parent]) => parent === side).map(([, , path]) => path!)
  })
  return paths.map((path) => path.replaceAll(/\$\w+/g, (name) => ids[name]!))
}

/** What is wrong on the pages, by their paths. */
async function walk(paths: readonly string[], token: string, look: Look): Promise<Record<string, string[]>> {
  await using opened = await openConsole(service.app.url, { tokens: [token], look })
  const problems: Record<string, string[]> = {}
  for (const [index, path] of paths.entries()) {
    await (index === 0 ? opened.goto(path) : opened.follow(path))
    const found = await opened.problems(look, [])
    if (found.length > 0) problems[path] = found
    opened.faults.length = 0
  }
  return problems
}

/** Walks along every second page on a phone by night, and along the others at a desk by day. */
async function problemsOf(paths: readonly string[], token: string): Promise<Record<string, string[]>> {
  const every = (remainder: number) => paths.filter((_, index) => index % 2 === remainder)
  return { ...(await walk(every(0), token, PHONE)), ...(await walk(every(1), token, DESK)) }
}

test.concurrent('every page of a customer', { timeout: TIMEOUT_MS }, async () => {
  const paths = pathsOf('customer')
  expect(paths.length).toBeGreaterThan(7)
  expect(await problemsOf(paths, service.token)).toEqual({})
})

test.concurrent('every page of an operator', { timeout: TIMEOUT_MS }, async () => {
  const paths = pathsOf('operator').map((path) => `/admin${path}`)
  expect(paths.length).toBeGreaterThan(20)
  expect(await problemsOf(paths, service.operatorToken)).toEqual({})
})
