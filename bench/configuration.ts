import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { requestAdmin } from '../src/commands/admin/client.ts'
import { startSimulator } from '../src/simulator/simulator.ts'
import { openDatabase } from './aldis/database.ts'
import { startNode } from './aldis/node.ts'
import type { ServiceReady } from './aldis/service.ts'
import type { LongestTurn } from './aldis/turn-watch.ts'
import type { Child } from './children.ts'
import { Rig } from './rig.ts'

/**
 * `npm run configuration-changes`: what a large configuration takes of a node: memory, time to start, size and time of /metrics,
 * and how long its changes hold up the node, as the longest turn of its event loop. All carriers are bound. `-- --profile` also
 * says which packages and files ran in those turns; sampling them makes all somewhat slower.
 */

const ACCOUNTS = 10_000
const CARRIERS = 1_000
const RULES = 100_000
const RATES = 200_000
const OPT_OUTS = 1_000_000
const TIMEOUT_MS = 300_000
/** Longer than the nodes' poll of the configuration's version. */
const SETTLE_MS = 1_500
const BOUND_TIMEOUT_MS = 120_000
const MIB = 1_048_576

const { profile } = parseArgs({ options: { profile: { type: 'boolean', default: false } } }).values
const rig = new Rig(null)
try {
  await Promise.race([measure(), rig.fault])
} finally {
  await rig.close()
}

async function measure(): Promise<void> {
  const operatorToken = randomBytes(24).toString('base64url')
  const start = (nodeName: string, databaseUrl: string | null) =>
    startNode(rig, { nodeName, operatorToken, databaseUrl })
  const { service, url, databaseUrl } = await start('bench', null)
  await service.request(profile ? 'watchTurns profiled' : 'watchTurns')
  const db = await openDatabase(databaseUrl)
  rig.resources.defer(() => db.end())
  const simulator = await startSimulator({ port: 0, enquireLinkIntervalMs: 0 })
  rig.resources.defer(() => simulator.stop())
  const ask = (method: string, path: string, body?: object) =>
    requestAdmin({ url, operatorToken }, method, path, body, { timeoutMs: TIMEOUT_MS })
  const apply = (body: object, query = '') => ask('POST', `/configuration/apply${query}`, body)
  const reportOf = async (of: Child<ServiceReady>, what: string, work: () => Promise<unknown>) => {
    await longestTurn(of)
    const sinceMs = performance.now()
    await work()
    const seconds = ((performance.now() - sinceMs) / 1_000).toFixed(1)
    await rig.pause(SETTLE_MS)
    say(`${what}: ${turnText(await longestTurn(of))}, done after ${seconds} s`)
  }
  const report = reportOf.bind(null, service)

  await report('nothing', async () => undefined)
  say(`memory at first: ${await memoryText(service)}`)
  await report('apply 10,000 accounts and plans', () => apply({ accounts: accounts(), plans: plans() }))
  const carriers = carriersAt(simulator.port)
  await report('apply 1,000 carriers, 1,000 routes', () => apply({ carriers, routes: routes() }))
  await report('bind 1,000 carriers', () => bound(url))
  await report('apply 100,000 rules', () => apply({ rules: rules() }))
  await report('apply 200,000 rates', () => apply({ rates: rates('0.01') }))
  await report('apply 200,000 number ranges', () => apply({ ranges: ranges() }))
  const insert = `insert into opt_outs (plan_id, sender, recipient) select id, 'Aldis', '+1555' || lpad(n::text, 7, '0')
    from service_plans, generate_series(1, ${OPT_OUTS / ACCOUNTS}) n`
  await report('insert 1,000,000 opt-outs', () => db.query(insert))
  say(`memory with all: ${await memoryText(service)}`)

  const firstOf = async (table: string, key: string) =>
    (await db.query<{ first: string }>(`select min(${key}) as first from ${table}`)).rows[0]!.first
  const rate = `/rates/${await firstOf('rates', 'id')}`
  await report('change one rate', () => ask('PATCH', rate, { price: '0.03' }))
  await report('create one plan', () => apply({ plans: { new: { account: 'account 1' } } }))
  await report('change one route', () =>
    apply({ routes: { 'route-1': { qualityFloor: { minDelivered: 80 } } } }),
  )
  await report('replace 100,000 rules', () => apply({ rules: rules(1) }))
  await report('compare 200,000 equal rates', () => apply({ rates: rates('0.01') }, '?dryRun=true'))
  await report('change 200,000 rates', () => apply({ rates: rates('0.02') }))
  await report('export all', () => ask('GET', '/configuration'))
  await report('scrape /metrics', () => metrics(url))
  let sinceMs = performance.now()
  const text = await metrics(url)
  const scrapeMs = (performance.now() - sinceMs).toFixed(0)
  say(`/metrics: ${(text.length / MIB).toFixed(2)} MiB, ${text.split('\n').length} lines, in ${scrapeMs} ms`)

  sinceMs = performance.now()
  const second = await start('second', databaseUrl)
  say(`start of another node: ${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`)
  await rig.pause(SETTLE_MS)
  say(`memory of it: ${await memoryText(second.service)}`)
  await second.service.request(profile ? 'watchTurns profiled' : 'watchTurns')
  const reportThere = (what: string, path: string, body: object, method = 'PATCH') =>
    reportOf(second.service, `${what} there`, () =>
      requestAdmin({ url: second.url, operatorToken }, method, path, body, { timeoutMs: TIMEOUT_MS }),
    )
  await reportThere('change one rate', rate, { price: '0.04' })
  await reportThere('change one rule', `/routing-rules/${await firstOf('routing_rules', 'id')}`, {
    route: 'route-5',
  })
  await reportThere(
    'change one plan',
    `/service-plans/${await firstOf('service_plans', 'service_plan_id')}`,
    { name: 'new name' },
  )
  await reportThere('change one route', '/routes/route-1', { qualityFloor: { minDelivered: 70 } })
  await reportThere('change one carrier', '/carriers/carrier-1', { window: 20 })
  const accountId = await firstOf('accounts', 'account_id')
  await reportThere('create one token', '/tokens', { accountId, name: 'one' }, 'POST')
  await second.service.stop()

  await report('delete 200,000 rates, create one', () =>
    apply(
      { rates: { one: { country: 'DK', price: '1', currency: 'EUR' } } },
      `?prune=true&confirm=rates=${RATES}`,
    ),
  )
  say(`memory in the end: ${await memoryText(service)}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function longestTurn(service: Child<ServiceReady>): Promise<LongestTurn> {
  return service.request<LongestTurn>('longestTurn')
}

function turnText({ cpuMs, wallMs, did, longestWallMs }: LongestTurn): string {
  const [cpu, wall, longestWall] = [cpuMs, wallMs, longestWallMs].map((ms) => ms.toFixed(0))
  return `longest turn ${cpu} ms of CPU in ${wall} ms (${did || 'no collection'}), longest by the clock ${longestWall} ms`
}

async function memoryText(service: Child<ServiceReady>): Promise<string> {
  const { rss, heapUsed } = await service.request<NodeJS.MemoryUsage>('memory')
  return `${Math.round(rss / MIB)} MiB, of which ${Math.round(heapUsed / MIB)} in use by the heap`
}

async function metrics(url: string): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text()
}

/** Resolves when every carrier has a bound link. */
async function bound(url: string): Promise<void> {
  for (const deadlineMs = performance.now() + BOUND_TIMEOUT_MS; ; ) {
    const links = (await metrics(url)).match(/^aldis_carrier_bound\{.* 1$/gm)?.length ?? 0
    if (links >= CARRIERS) return
    if (performance.now() > deadlineMs) throw new Error(`only ${links} carriers were bound in time`)
    await rig.pause(SETTLE_MS)
  }
}

function objects<T>(count: number, one: (index: number) => [string, T]): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => one(index)))
}

function accounts() {
  return objects(ACCOUNTS, (index) => [`account ${index}`, {}])
}

function plans() {
  return objects(ACCOUNTS, (index) => [`plan ${index}`, { account: `account ${index}` }])
}

function carriersAt(port: number) {
  const link = { host: '127.0.0.1', port, systemId: 'aldis', password: 'aldis' }
  return objects(CARRIERS, (index) => [`carrier-${index}`, link])
}

function routes() {
  return objects(CARRIERS, (index) => [`route-${index}`, { carriers: [{ carrier: `carrier-${index}` }] }])
}

/** `moved`: each goes to another route. */
function rules(moved = 0) {
  return objects(RULES, (index) => {
    const limits = { plan: `plan ${index % ACCOUNTS}`, prefix: `+44${1_000 + Math.floor(index / ACCOUNTS)}` }
    return [`rule ${index}`, { ...limits, route: `route-${(index + moved) % CARRIERS}` }]
  })
}

function rates(price: string) {
  return objects(RATES, (index) => {
    const limits = { plan: `plan ${index % ACCOUNTS}`, prefix: `+44${1_000 + Math.floor(index / ACCOUNTS)}` }
    return [`rate ${index}`, { ...limits, price, currency: 'EUR' }]
  })
}

function ranges() {
  return objects(RATES, (index) => [`+447${100_000 + index}`, { mccmnc: '23415' }])
}
