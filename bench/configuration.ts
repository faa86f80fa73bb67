import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { requestAdmin } from '../src/commands/admin/client.ts'
import { openDatabase } from './aldis/database.ts'
import type { ServiceConfig, ServiceReady } from './aldis/service.ts'
import { script } from './children.ts'
import { Rig } from './rig.ts'

/**
 * `npm run configuration-changes`: how long changes of a large configuration hold up a node. The figure is the longest delay
 * of its event loop (`perf_hooks.monitorEventLoopDelay`), which /metrics reports and resets.
 */

const ACCOUNTS = 10_000
const CARRIERS = 1_000
const RULES = 100_000
const RATES = 200_000
const OPT_OUTS = 1_000_000
const TIMEOUT_MS = 300_000
/** Longer than the nodes' poll of the configuration's version. */
const SETTLE_MS = 1_500

const rig = new Rig(null)
try {
  await Promise.race([measure(), rig.fault])
} finally {
  await rig.close()
}

async function measure(): Promise<void> {
  const operatorToken = randomBytes(24).toString('base64url')
  const config: ServiceConfig = {
    dataDir: join(rig.folder, 'data'),
    databaseUrl: null,
    nodeName: 'bench',
    logLevel: 'warn',
    operatorToken,
    caPem: null,
    workers: 1,
    explain: false,
  }
  const program = script('aldis/service.ts', JSON.stringify(config))
  const service = rig.child<ServiceReady>('service', program, { logFile: rig.serviceLog })
  const { url, databaseUrl } = await service.ready()
  const db = await openDatabase(databaseUrl)
  rig.resources.defer(() => db.end())
  const apply = (body: object, query = '') =>
    requestAdmin({ url, operatorToken }, 'POST', `/configuration/apply${query}`, body, {
      timeoutMs: TIMEOUT_MS,
    })
  const report = async (what: string, work: () => Promise<unknown>) => {
    await longestDelayMs(url)
    const sinceMs = performance.now()
    await work()
    const seconds = ((performance.now() - sinceMs) / 1_000).toFixed(1)
    await rig.pause(SETTLE_MS)
    const longestMs = (await longestDelayMs(url)).toFixed(0)
    process.stdout.write(`${what}: longest delay ${longestMs} ms, answered after ${seconds} s\n`)
  }

  await report('nothing', async () => undefined)
  await report('apply 10,000 accounts and plans', () => apply({ accounts: accounts(), plans: plans() }))
  await report('apply 1,000 carriers, 1,000 routes', () => apply({ carriers: carriers(), routes: routes() }))
  await report('apply 100,000 rules', () => apply({ rules: rules() }))
  await report('apply 200,000 rates', () => apply({ rates: rates('0.01') }))
  await report('apply 200,000 number ranges', () => apply({ ranges: ranges() }))
  const insert = `insert into opt_outs (plan_id, sender, recipient) select id, 'Aldis', '+1555' || lpad(n::text, 7, '0')
    from service_plans, generate_series(1, ${OPT_OUTS / ACCOUNTS}) n`
  await report('insert 1,000,000 opt-outs', () => db.query(insert))
  await report('compare 200,000 equal rates', () => apply({ rates: rates('0.01') }, '?dryRun=true'))
  await report('change 200,000 rates', () => apply({ rates: rates('0.02') }))
  await report('delete 200,000 rates, create one', () =>
    apply(
      { rates: { one: { country: 'SE', price: '1', currency: 'EUR' } } },
      `?prune=true&confirm=rates=${RATES}`,
    ),
  )
  const changed = { routes: { 'route-1': { qualityFloor: { minDelivered: 80 } } } }
  await report('change one route', () => apply(changed))
}

async function longestDelayMs(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds ([0-9.e-]+)$/m.exec(metrics)!
  return Number(seconds) * 1_000
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

function carriers() {
  const link = { state: 'stopped', host: '127.0.0.1', port: 2775, systemId: 'aldis', password: 'aldis' }
  return objects(CARRIERS, (index) => [`carrier-${index}`, link])
}

function routes() {
  return objects(CARRIERS, (index) => [`route-${index}`, { carriers: [{ carrier: `carrier-${index}` }] }])
}

function rules() {
  return objects(RULES, (index) => {
    const limits = { plan: `plan ${index % ACCOUNTS}`, prefix: `+44${1_000 + Math.floor(index / ACCOUNTS)}` }
    return [`rule ${index}`, { ...limits, route: `route-${index % CARRIERS}` }]
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
