/**
 * Scrapes a real `aldis dev` under a little load with a real Prometheus (Debian: prometheus), asks it every query of the
 * dashboard, and looks at what it makes of the alert rules. Prints which queries have data; fails if one is refused, or has
 * none although something happened that it should show.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DeployedQuery, dashboardQueries, PROMETHEUS } from './deploy-files.ts'
import { ALDIS, freePort, type Ready, Trial, until } from './trial.ts'

const LOAD_MS = 60_000
const SENDS_PER_SECOND = 20

/** Queries that may be empty on a healthy installation: what they show has not happened. */
const MAY_BE_EMPTY: readonly RegExp[] = [
  /^Messages in the database, by (route|cause)/,
  /^Age of the oldest message, by route/,
  /^Messages in memory, by cause/,
  /^Violations of SMPP per second/,
  /^Inbound messages and receipts not taken A/,
  /^annotation Restarts/,
]

const trial = new Trial('dashboard')

async function call<Answer>(url: string, token: string, method = 'GET', body?: object): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

/** A plan with a carrier of its own: the quality of the sandbox is not counted. */
async function setUp({ baseUrl, accountId, operatorToken }: Ready, smppPort: number): Promise<string> {
  const admin = <Answer>(method: string, path: string, body?: object) =>
    call<Answer>(`${baseUrl}/admin/v1${path}`, operatorToken, method, body)
  const carrier = { name: 'simulated', host: '127.0.0.1', port: smppPort, systemId: 'aldis', password: 'x' }
  await admin('POST', '/carriers', { ...carrier, window: 10 })
  await admin('POST', '/routes', { name: 'simulated', carriers: [{ carrier: 'simulated' }] })
  const { servicePlanId } = await admin<{ servicePlanId: string }>('POST', '/service-plans', {
    accountId,
    name: 'Load',
    route: 'simulated',
  })
  await admin('PUT', `/service-plans/${servicePlanId}/senders/Aldis`, { status: 'approved' })
  await until('the bind', async () => {
    const { binds } = await admin<{ binds: { state: string }[] }>('GET', '/carriers/simulated/binds')
    return binds.some(({ state }) => state === 'bound') || null
  })
  return servicePlanId
}

/** Some sends a second, one in ten of which is refused. */
async function load({ baseUrl, token }: Ready, servicePlanId: string, callbackUrl: string): Promise<void> {
  const endMs = Date.now() + LOAD_MS
  for (let count = 0; Date.now() < endMs; count += 1) {
    const isRefused = count % 10 === 0
    const to = isRefused ? 'nobody' : `+1555${1_000_000 + count}`
    const message = { servicePlanId, channel: 'SMS', from: 'Aldis', to, body: 'A little load', callbackUrl }
    const sent = call(`${baseUrl}/v1/sendsms`, token, 'POST', message)
    await (isRefused ? sent.catch(() => undefined) : sent)
    await wait(1_000 / SENDS_PER_SECOND)
  }
}

async function ask<Data>(url: string, path: string): Promise<Data> {
  const answer = await fetch(`${url}/api/v1/${path}`)
  const { status, data, error } = (await answer.json()) as { status: string; data: Data; error?: string }
  if (status !== 'success') throw new Error(error)
  return data
}

/** How many series a query has. The variables of the dashboard take everything. */
async function seriesOf(url: string, { expr, isInstant }: DeployedQuery): Promise<number> {
  const query = expr
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$instance', '.*')
    .replaceAll('$carrier', '.*')
  const end = Math.floor(Date.now() / 1_000)
  const range = new URLSearchParams({ query, start: String(end - 60), end: String(end), step: '5' })
  const instant = new URLSearchParams({ query })
  const path = isInstant ? `query?${instant}` : `query_range?${range}`
  const { result } = await ask<{ result: unknown[] }>(url, path)
  return result.length
}

async function judge(url: string): Promise<boolean> {
  let isWell = true
  for (const query of dashboardQueries()) {
    const count = await seriesOf(url, query).catch((error: Error) => error.message)
    const mayBeEmpty = MAY_BE_EMPTY.some((pattern) => pattern.test(query.where))
    const isFine = typeof count === 'number' && (count > 0 || mayBeEmpty)
    isWell &&= isFine
    process.stdout.write(`${isFine ? ' ' : '!'} ${query.where}: ${count}\n`)
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

async function main(): Promise<void> {
  const [smppPort, prometheusPort, webhookPort] = [await freePort(), await freePort(), await freePort()]
  trial.run(process.execPath, [ALDIS, 'simulate-carrier', '--port', String(smppPort), '--quiet'])
  trial.run(process.execPath, [ALDIS, 'listen', '--port', String(webhookPort)])
  const ready = await trial.startDev('data')
  const example = readFileSync(join(PROMETHEUS, 'prometheus.yml'), 'utf8')
  const config = example
    .replaceAll('15s', '2s')
    .replace('127.0.0.1:8080', new URL(ready.baseUrl).host)
    .replace('- aldis.rules.yml', `- ${join(PROMETHEUS, 'aldis.rules.yml')}`)
  writeFileSync(join(trial.folder, 'prometheus.yml'), config)
  trial.run('prometheus', [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=tsdb',
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
    '--log.level=warn',
  ])
  const url = `http://127.0.0.1:${prometheusPort}`
  const servicePlanId = await setUp(ready, smppPort)
  await load(ready, servicePlanId, `http://127.0.0.1:${webhookPort}/`)
  await until('the first evaluation of the rules', async () => {
    const { groups } = await ask<{ groups: { rules: { health: string }[] }[] }>(url, 'rules')
    return groups.every(({ rules }) => rules.every(({ health }) => health !== 'unknown')) || null
  })
  if (!(await judge(url))) process.exitCode = 1
}

try {
  await main()
} finally {
  await trial.close()
}
