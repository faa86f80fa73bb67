/**
 * The message log of the console with many messages of one plan behind it: from the navigation, in a browser that has never seen
 * the console, to rows on the screen; and the counts above them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { startBrowser } from '../test/support/browser.ts'
import { MAIN, type Ready } from '../test/support/process.ts'
import { addPastDays, openDatabase, planIdOf } from './aldis/database.ts'
import { makeRecords, VALUES } from './lists/records.ts'
import { describeMachine } from './machine.ts'
import { percentiles } from './percentiles.ts'

const HELP = `usage: node bench/console-log.ts [--records 10000000] [--loads 20] [--folder F]
  --records N   messages of the plan, spread over 20 days
  --loads N     how often each page is loaded; 0: the records are made only
  --folder F    keeps the database there; one that has messages is measured as it is`

const DAYS = 20
const DAY_MS = 86_400_000
/** Filters of the log, by how many messages they match. */
const FILTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no filter': {},
  'status, 4 %': { status: VALUES.status.many },
  'country, a third': { country: VALUES.country.many },
  'status, 50 messages': { status: VALUES.status.few },
  'to, 50 messages': { to: VALUES.to.few },
  'country and status, 1 %': { country: VALUES.country.many, status: VALUES.status.many },
}

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    loads: { type: 'string', default: '20' },
    folder: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(`${HELP}\n`)
  process.exit()
}
const [records, loads] = [Number(values.records), Number(values.loads)]
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'aldis-console-log-'))
mkdirSync(folder, { recursive: true })
const readyFile = join(folder, 'ready.json')
rmSync(readyFile, { force: true })
const dev = spawn(
  process.execPath,
  [MAIN, 'dev', '--port', '0', '--data-dir', join(folder, 'data'), '--ready-file', readyFile],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
try {
  while (!existsSync(readyFile)) {
    if (dev.exitCode !== null) throw new Error(`aldis dev ended with ${dev.exitCode}`)
    await sleep(200)
  }
  const ready: Ready = JSON.parse(readFileSync(readyFile, 'utf8'))
  await prepare(ready)
  if (loads > 0) await measure(ready)
} finally {
  dev.kill('SIGTERM')
  if (dev.exitCode === null) await once(dev, 'exit')
  if (values.folder === undefined) rmSync(folder, { recursive: true })
}

async function prepare({ databaseUrl, servicePlanId }: Ready): Promise<void> {
  const db = await openDatabase(databaseUrl)
  const { rows } = await db.query('select from messages limit 1')
  if (rows.length === 0) {
    const startMs = performance.now()
    await addPastDays(databaseUrl, DAYS)
    const planId = await planIdOf(db, servicePlanId)
    await makeRecords({ databaseUrl, planId, records, days: DAYS, nowMs: Date.now(), oneOf: 1 })
    say(`${records} records made in ${seconds(performance.now() - startMs)}`)
  }
  for (const [name, value] of Object.entries(await describeMachine(db))) say(`${name}: ${value}`)
  await db.end()
}

async function measure(ready: Ready): Promise<void> {
  const browser = await startBrowser()
  const fromDate = new Date(Date.now() - DAY_MS).toISOString()
  say('| page | filter | p50 | p95 | slowest | counts p50 | counts slowest |')
  for (const [name, filters] of Object.entries(FILTERS)) {
    const query = new URLSearchParams(filters).toString()
    // All messages of a plan are not counted; those of a day are.
    const counts = await timed(() => readCounts(ready, query || new URLSearchParams({ fromDate }).toString()))
    const pages = { customer: '/console/messages', operator: '/console/admin/messages' }
    for (const [who, path] of Object.entries(pages)) {
      const token = who === 'customer' ? ready.token : ready.operatorToken
      const drawn: number[] = []
      for (let load = 0; load < loads; load += 1)
        drawn.push(await msUntilRows(browser, ready, `${path}?${query}`, token))
      const page = percentiles(drawn)
      const p95 = drawn.sort((a, b) => a - b)[Math.ceil(loads * 0.95) - 1]!
      const ofCounts = who === 'customer' ? [counts.p50, counts.max].map(seconds).join(' | ') : '|'
      say(`| ${who} | ${name} | ${[page.p50, p95, page.max].map(seconds).join(' | ')} | ${ofCounts} |`)
    }
  }
  await browser.close()
}

/** In a context of its own: nothing is cached, and nothing is compiled. */
async function msUntilRows(browser: Browser, ready: Ready, path: string, token: string): Promise<number> {
  const context = await browser.newContext({ baseURL: ready.baseUrl, viewport: { width: 1280, height: 900 } })
  const headers = { 'sec-fetch-site': 'same-origin' }
  await context.request.post('/console/session', { data: { token }, headers })
  const page = await context.newPage()
  const startMs = performance.now()
  await page.goto(path, { waitUntil: 'commit' })
  await page.getByRole('region', { name: 'Messages' }).locator('tbody tr').first().waitFor()
  const ms = performance.now() - startMs
  await context.close()
  return ms
}

async function readCounts({ baseUrl, token, servicePlanId }: Ready, query: string): Promise<void> {
  const url = `${baseUrl}/v1/messages/sms/counts?servicePlanId=${servicePlanId}&${query}`
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  await answer.text()
}

async function timed(ask: () => Promise<void>) {
  const latencies: number[] = []
  for (let load = 0; load < loads; load += 1) {
    const startMs = performance.now()
    await ask()
    latencies.push(performance.now() - startMs)
  }
  return percentiles(latencies)
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
