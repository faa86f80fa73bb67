/**
 * Scrapes a real `aldis dev`, and an `aldis serve` with two workers on its database, with a real Prometheus (Debian:
 * prometheus). Sends messages, makes troubles, asks Prometheus every query of the dashboard, and looks at what it makes of the
 * alert rules. Prints how many series each query has and the most that any of them showed; fails if a query is refused or
 * shows nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DeployedQuery, dashboardQueries, PROMETHEUS } from './deploy-files.ts'
import { ALDIS, freePort, type Ready, Trial, until } from './trial.ts'
import {
  type Carriers,
  call,
  killWorker,
  type Plan,
  sendUnowned,
  setUp,
  stallDatabase,
  startCarriers,
  stopCarriers,
} from './troubles.ts'

const LOAD_MS = 60_000
const SENDS_PER_SECOND = 20
/** The outcomes of the simulator: delivered, undeliverable, refused, throttled at first. */
const ENDINGS = ['0000', '1001', '1006', '1007']

const trial = new Trial('dashboard')

/** Some sends a second over both nodes: one in ten is refused, one in five has a receiver that is away. */
async function load(
  ready: Ready,
  second: string,
  plans: Record<Plan, string>,
  receiver: string,
): Promise<void> {
  const nobody = `http://127.0.0.1:${await freePort()}/`
  const planOf = Object.values(plans)
  const endMs = Date.now() + LOAD_MS
  for (let count = 0; Date.now() < endMs; count += 1) {
    const isRefused = count % 10 === 0
    const servicePlanId = planOf[count % planOf.length]!
    const ending = servicePlanId === plans.poor ? '1001' : ENDINGS[(count >> 2) % ENDINGS.length]
    const to = isRefused ? 'nobody' : `+1555123${ending}`
    const callbackUrl = count % 5 === 1 ? nobody : receiver
    const message = { servicePlanId, channel: 'SMS', from: 'Aldis', to, body: 'A little load', callbackUrl }
    const node = count % 2 === 0 ? ready.baseUrl : second
    const sent = call(`${node}/v1/sendsms`, ready.token, 'POST', message)
    // The troubles make some of these fail too.
    void sent.catch(() => undefined)
    await wait(1_000 / SENDS_PER_SECOND)
  }
}

async function makeTroubles(ready: Ready, carriers: Carriers): Promise<void> {
  await wait(LOAD_MS / 3)
  await sendUnowned(carriers)
  await killWorker(ready)
  await stallDatabase(ready.databaseUrl, carriers)
}

async function ask<Data>(url: string, path: string): Promise<Data> {
  const answer = await fetch(`${url}/api/v1/${path}`)
  const { status, data, error } = (await answer.json()) as { status: string; data: Data; error?: string }
  if (status !== 'success') throw new Error(error)
  return data
}

interface Shown {
  readonly series: number
  /** NaN without a number. */
  readonly most: number
}

/** What a query has over the last minutes. The variables of the dashboard take everything. */
async function shownBy(url: string, { expr }: DeployedQuery): Promise<Shown> {
  const query = expr
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$instance', '.*')
    .replaceAll('$carrier', '.*')
  const end = Math.floor(Date.now() / 1_000)
  const range = new URLSearchParams({ query, start: String(end - 120), end: String(end), step: '2' })
  type Series = { values: [number, string][] }
  const { result } = await ask<{ result: Series[] }>(url, `query_range?${range}`)
  const numbers = result.flatMap(({ values }) => values.map(([, value]) => Number(value)))
  const most = numbers.reduce((a, b) => (b > a || Number.isNaN(a) ? b : a), Number.NaN)
  return { series: result.length, most }
}

async function judge(url: string): Promise<boolean> {
  let isWell = true
  for (const query of dashboardQueries()) {
    const shown = await shownBy(url, query).catch((error: Error) => error.message)
    const isFine = typeof shown === 'object' && shown.series > 0
    isWell &&= isFine
    const text = typeof shown === 'object' ? `${shown.series} series, ${shown.most} at most` : shown
    process.stdout.write(`${isFine ? ' ' : '!'} ${query.where}: ${text}\n`)
  }
  type Rule = { name: string; health: string; state: string; lastError?: string }
  const { groups } = await ask<{ groups: { rules: Rule[] }[] }>(url, 'rules')
  const rules = groups.flatMap((group) => group.rules)
  for (const { name, health, lastError } of rules)
    if (health !== 'ok') process.stdout.write(`! alert ${name}: ${health} ${lastError ?? ''}\n`)
  const active = rules
    .filter(({ state }) => state !== 'inactive')
    .map(({ name, state }) => `${name} ${state}`)
  process.stdout.write(`${rules.length} alert rules; not inactive: ${active.join(', ') || 'none'}\n`)
  return isWell && rules.length > 0 && rules.every(({ health }) => health === 'ok')
}

/** Starts two workers on the database of `aldis dev`. Returns their address. */
async function startSecond({ databaseUrl, operatorToken }: Ready): Promise<string> {
  const port = await freePort()
  const { secretKey } = JSON.parse(readFileSync(join(trial.folder, 'data/dev.json'), 'utf8')) as {
    secretKey: string
  }
  trial.run(process.execPath, [ALDIS, 'serve', '--workers', '2'], {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    OPERATOR_TOKEN: operatorToken,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: String(port),
    NODE_ID: 'two',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'error',
  })
  const url = `http://127.0.0.1:${port}`
  await until('the second node', async () => (await fetch(`${url}/readyz`)).ok || null)
  return url
}

/** Starts Prometheus with the configuration of `deploy`, which looks at both nodes every two seconds. */
async function startPrometheus(nodes: readonly string[]): Promise<string> {
  const port = await freePort()
  const targets = nodes.map((node) => `'${new URL(node).host}'`).join(', ')
  const config = readFileSync(join(PROMETHEUS, 'prometheus.yml'), 'utf8')
    .replaceAll('15s', '2s')
    .replace("'127.0.0.1:8080'", targets)
    .replace('- aldis.rules.yml', `- ${join(PROMETHEUS, 'aldis.rules.yml')}`)
  writeFileSync(join(trial.folder, 'prometheus.yml'), config)
  trial.run('prometheus', [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=tsdb',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ])
  return `http://127.0.0.1:${port}`
}

async function main(carriers: Carriers): Promise<void> {
  const receiverPort = await freePort()
  trial.run(process.execPath, [ALDIS, 'listen', '--port', String(receiverPort)])
  const ready = await trial.startDev('data')
  const second = await startSecond(ready)
  const url = await startPrometheus([ready.baseUrl, second])
  const plans = await setUp(ready, carriers)
  const receiver = `http://127.0.0.1:${receiverPort}/`
  await Promise.all([load(ready, second, plans, receiver), makeTroubles(ready, carriers)])
  await until('the first evaluation of the rules', async () => {
    const { groups } = await ask<{ groups: { rules: { health: string }[] }[] }>(url, 'rules')
    return groups.every(({ rules }) => rules.every(({ health }) => health !== 'unknown')) || null
  })
  if (!(await judge(url))) process.exitCode = 1
}

const carriers = await startCarriers()
try {
  await main(carriers)
} finally {
  await trial.close()
  await stopCarriers(carriers)
}
