import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtFiles } from '../../../src/http/browser-pages.ts'
import { adminServerOfFile, startAdminServer } from '../../support/admin-server.ts'
import { ROOT } from '../../support/process.ts'
import { exchange, requestBytes } from '../../support/raw-http.ts'

const server = await adminServerOfFile()
const port = Number(new URL(server.baseUrl).port)

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.baseUrl + path, { method, headers, redirect: 'manual' })

/** As it is sent, without what a client would do to the path or to packed bytes. */
async function raw(path: string, headers: Record<string, string> = {}) {
  const answer = await exchange(port, requestBytes({ method: 'GET', path, headers }))
  return answer!
}

const page = await (await get('/console/')).text()
const [, script] = /src="\/console\/(assets\/[^"]+\.js)"/.exec(page)!
const built = (ending: string) => readFileSync(join(ROOT, 'dist/console', script! + ending))

test('/console leads to /console/', async () => {
  const { status, headers } = await get('/console')
  expect([status, headers.get('location')]).toEqual([308, '/console/'])
})

test('the page has a nonce of its own in each answer, and a policy with it', async () => {
  const nonces = new Set<string>()
  for (const path of ['/console/', '/console/', '/console/messages/5?x=1', '/console/index.html']) {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    const [, nonce] = /<meta name="csp-nonce" content="([\w+/]{24})"/.exec(await answer.text())!
    nonces.add(nonce!)
    expect(answer.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  }
  expect(nonces.size).toBe(4)
})

test.each([
  ['br', 'br', '.br'],
  ['gzip, deflate, br, zstd', 'br', '.br'],
  ['GZIP;q=0.5', 'gzip', '.gz'],
  ['br;q=0, gzip', 'gzip', '.gz'],
  ['br;q=0.0', null, ''],
  ['identity', null, ''],
  ['', null, ''],
])('Accept-Encoding: %s is answered %s', async (accepted, coding, ending) => {
  const answer = await raw(`/console/${script}`, { 'accept-encoding': accepted })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-encoding') ?? null).toBe(coding)
  expect(answer.headers.get('content-length')).toBe(String(built(ending).length))
  expect(answer.headers.get('vary')).toBe('accept-encoding')
})

test('an asset is kept for a year, and not sent again to who has it', async () => {
  const answer = await get(`/console/${script}`)
  expect(Buffer.from(await answer.arrayBuffer()).equals(built(''))).toBe(true)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  const etag = answer.headers.get('etag')!
  for (const known of [etag, `"other", W/${etag}`]) {
    const again = await get(`/console/${script}`, { 'if-none-match': known })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }
  // Of the same file packed otherwise.
  const other = await raw(`/console/${script}`, { 'if-none-match': etag, 'accept-encoding': 'identity' })
  expect(other.status).toBe(200)
})

test('HEAD has the headers alone', async () => {
  for (const path of ['/console/', `/console/${script}`]) {
    const { status, headers } = await get(path, { 'accept-encoding': 'identity' }, 'HEAD')
    expect(status).toBe(200)
    expect(Number(headers.get('content-length'))).toBeGreaterThan(500)
  }
})

test.each([
  '/console/assets/none.js',
  '/console/assets/',
  '/console/assets/../index.html',
  '/console/assets/..%2findex.html',
  '/console/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
  '/console/assets/..%5c..%5cpackage.json',
  '/console/assets//etc/passwd',
  `/console/${script}.br`,
  `/console/${script}%00`,
  '/docs/assets/none.js',
])('404: %s', async (path) => {
  const { status, json } = await raw(path)
  expect([status, json.errorCode]).toEqual([404, 'NOT_FOUND'])
})

test('a path outside is the page, never a file', async () => {
  for (const path of ['/console/../package.json', '/console/..%2f..%2fpackage.json', '/console//etc/passwd'])
    expect((await raw(path)).text).not.toMatch(/root:|"version"/)
})

test('405 for anything but reading', async () => {
  for (const path of ['/console', '/docs', '/docs/admin']) {
    const answer = await get(path, {}, 'POST')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
  expect((await get('/console/', {}, 'POST')).status).toBe(404)
  expect((await get('/console/session', {}, 'PUT')).headers.get('allow')).toBe('DELETE, GET, HEAD, POST')
})

test('503 where nothing was built, with the command that builds it', async () => {
  const none = builtFiles('none')
  await using bare = await startAdminServer({ beside: server, pages: { console: none, docs: none } })
  for (const path of ['/console/', '/console/messages', '/docs', '/docs/admin']) {
    const answer = await fetch(bare.baseUrl + path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8'])
    expect(await answer.text()).toContain('npm run build:console')
  }
})

test('each listener has the documents of those whom it serves', async () => {
  const statuses: Record<string, number[]> = {}
  for (const serves of ['customers', 'operators'] as const) {
    await using listener = await startAdminServer({ beside: server, serves })
    statuses[serves] = []
    for (const path of ['/console/', '/docs', '/docs/admin'])
      statuses[serves].push((await fetch(listener.baseUrl + path)).status)
  }
  expect(statuses).toEqual({ customers: [200, 200, 404], operators: [200, 404, 200] })
})
