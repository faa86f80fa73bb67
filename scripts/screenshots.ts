/**
 * Makes the pictures of the console in docs/images/: of `aldis dev`, with messages that its sandbox carries now. Only the hours
 * before, which a picture cannot wait for, are written into the statistics.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { AldisClient } from '../client/src/index.ts'
import { LATENCY_BUCKETS, type StatisticsRow } from '../src/domain/statistics/query.ts'
import { openDatabase } from '../src/store/database-pool.ts'
import { nextWriter, writeStatistics } from '../src/store/statistics.ts'
import { startBrowser } from '../test/support/browser.ts'
import { ROOT } from '../test/support/process.ts'
import { buildIfStale } from './build-console.ts'

interface Ready {
  readonly baseUrl: string
  readonly servicePlanId: string
  readonly token: string
  readonly operatorToken: string
  readonly sender: string
  readonly inboundNumber: string
  readonly databaseUrl: string
}

const IMAGES = join(ROOT, 'docs', 'images')
const PHONE = '+15551230002'
const MINUTE_MS = 60_000
/** Of the statistics that are written: the hour of the picture, and the one before, with which it is compared. */
const MINUTES = 122

/** Recipients by what the sandbox does with their last digits (docs/simulator.md). */
const RECIPIENTS = ['+15551230021', '+447700900123', '+4915112345678', '+33612345678', '+15551231001']
const TEXTS = [
  'Your code is 271828',
  'Your parcel arrives today between 14:00 and 16:00',
  'Добрый день, ваш код 271828',
]

async function untilReady(dev: ChildProcess, file: string): Promise<Ready> {
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      if (dev.exitCode !== null) throw new Error(`aldis dev ended with ${dev.exitCode}`)
      await wait(200)
    }
  }
}

/** A histogram with this many values, most of them around the place `peak`. */
function histogram(count: number, peak: number): number[] {
  const shares = Array.from({ length: LATENCY_BUCKETS }, (_, index) => 3 ** -Math.abs(index - peak))
  const all = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share) => Math.round((count * share) / all))
}

/** The last minutes of a plan. */
function lastMinutes(nowMs: number, planId: number): StatisticsRow[] {
  const end = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS
  return Array.from({ length: MINUTES }, (_, index) => {
    const accepted = Math.round(900 + 300 * Math.sin(index / 9) + 60 * Math.sin(index * 2.3))
    const failed = Math.round(accepted * (index > 38 && index < 44 ? 0.09 : 0.02))
    const delivered = accepted - failed - 4
    const sums = {
      accepted,
      sent: accepted - 2,
      delivered,
      failed,
      unknown: 1,
      inbound: 40,
      segments: accepted,
    }
    const codes = {
      codes: [301, 303],
      codeCounts: [failed - 3, 3],
      currencies: ['USD'],
      prices: [accepted * 8_500],
    }
    const latencies = {
      accept: histogram(accepted, 3),
      submit: histogram(accepted, 2),
      receipt: histogram(delivered, 3),
      webhook: histogram(accepted * 2, 3),
    }
    const of = { planId, routeId: 0, carrierId: 0, country: planId === 0 ? '' : 'US' }
    return { atMs: end - (MINUTES - 1 - index) * MINUTE_MS, ...of, ...sums, ...codes, ...latencies }
  })
}

async function writeHistory({ databaseUrl, servicePlanId }: Ready): Promise<void> {
  const db = openDatabase({ connectionString: databaseUrl, poolSize: 1 })
  const { rows } = await db.query<{ id: number }>({
    text: 'select id from service_plans where service_plan_id = $1',
    values: [servicePlanId],
  })
  const now = Date.now()
  await writeStatistics(db, await nextWriter(db), [...lastMinutes(now, rows[0]!.id), ...lastMinutes(now, 0)])
  await db.end()
}

/** Sends what the pictures show. Returns the message whose story is shown. */
async function send(client: AldisClient, ready: Ready, callbackUrl: string): Promise<string> {
  const { servicePlanId, sender: from, inboundNumber } = ready
  const common = { servicePlanId, channel: 'SMS', from, callbackUrl } as const
  for (let n = 0; n < 24; n += 1) {
    const [to, body] = [RECIPIENTS[n % RECIPIENTS.length]!, TEXTS[n % TEXTS.length]!]
    await client.sendSms({ ...common, to, body })
  }
  await client.sendSms({ ...common, to: PHONE, body: 'Your table is booked for 19:30. Reply C to cancel.' })
  await client.sendFromHandset({
    servicePlanId,
    from: PHONE,
    to: inboundNumber,
    body: 'Thanks! See you at 7',
  })
  const { msgId } = await client.sendSms({
    ...common,
    to: PHONE,
    body: `Thank you. Parking is behind the house, and the kitchen closes at 22:00. ${'We look forward to seeing you. '.repeat(4)}`,
  })
  return msgId
}

async function pictures(page: Page, ready: Ready, msgId: string): Promise<void> {
  const shot = async (name: string, path: string) => {
    await page.goto(`${ready.baseUrl}/console${path}`)
    await page.locator('h1').first().waitFor()
    await page.waitForLoadState('networkidle').catch(() => {})
    await wait(500)
    await page.screenshot({ path: join(IMAGES, `console-${name}.png`) })
  }
  await shot('overview', '/')
  await shot('messages', '/messages')
  await shot('message', `/messages/${msgId}`)
  await shot('phone', `/phone?number=${encodeURIComponent(PHONE)}`)
  await shot(
    'compose',
    `/compose?from=Aldis&to=${encodeURIComponent(PHONE)}&body=${encodeURIComponent(TEXTS[2]!)}`,
  )
  await shot('operator', '/admin')
}

await buildIfStale()
mkdirSync(IMAGES, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'aldis-screenshots-'))
const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const readyFile = join(folder, 'ready.json')
const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--ready-file', readyFile]
const dev = spawn(process.execPath, ['src/main.ts', 'dev', ...options], { cwd: ROOT, stdio: 'ignore' })
const browser = await startBrowser()
try {
  const ready = await untilReady(dev, readyFile)
  await writeHistory(ready)
  const client = new AldisClient({ baseUrl: ready.baseUrl, token: ready.token })
  const callbackUrl = `http://localhost:${(receiver.address() as AddressInfo).port}/receipts`
  const msgId = await send(client, ready, callbackUrl)
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    colorScheme: 'light',
  })
  await page.goto(`${ready.baseUrl}/console/#customer=${ready.token}&operator=${ready.operatorToken}`)
  // Statistics are written every 10 s.
  await wait(12_000)
  await pictures(page, ready, msgId)
} finally {
  await browser.close()
  receiver.close()
  dev.kill('SIGTERM')
  await once(dev, 'exit')
  rmSync(folder, { recursive: true })
}
