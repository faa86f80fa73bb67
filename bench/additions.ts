import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ServicePlan } from '../src/domain/configuration/configuration.ts'
import { messageId } from '../src/domain/identifiers.ts'
import type { Accepted, LaterFact } from '../src/domain/journal/message-facts.ts'
import { acceptedState } from '../src/domain/journal/message-states.ts'
import { judgeRecipient } from '../src/domain/limits/plan-limits.ts'
import { StatisticsTallies } from '../src/domain/statistics/tallies.ts'
import { isTraced } from '../src/domain/trace-context.ts'
import { createLog } from '../src/log.ts'
import { CapShares } from '../src/services/limits/cap-shares.ts'
import { CountryPauses } from '../src/services/limits/country-pauses.ts'
import { RateShares } from '../src/services/limits/rate-shares.ts'
import { Traces } from '../src/services/tracing/traces.ts'
import type { Database } from '../src/store/database.ts'
import { openDatabase } from '../src/store/database-pool.ts'
import { migrate } from '../src/store/migrate.ts'
import { aDirectory, aPlan } from '../test/support/directory.ts'
import { startEmbedded } from './aldis/run-database.ts'
import { processCpuMs } from './cpu-times.ts'
import type { Rig } from './rig.ts'

/**
 * The CPU that each addition to the message path takes of a message once it is switched on, in the node and in PostgreSQL.
 * Measured in this process without HTTP or SMPP, by calling what the path calls. The collector of traces is a port where
 * nothing listens. Nothing of alarms, the read replica, doctor and the configuration file runs for a message.
 */

export interface AdditionCost {
  readonly name: string
  /** Of a message. */
  readonly nodeUs: number
  readonly databaseUs: number
}

/** Recipients in so many ranges of numbers. */
const RANGES = 1_000
const TRACED_SHARE = 0.01
/** Spans of a message of one segment: accept, submit_sm, receipt, two webhooks. */
const SPANS = 5
/** A span's message is asked for at each span, and at each fact in a batch. */
const DECISIONS = SPANS + 8
/** Spans that are in memory at most. */
const MOST_SPANS = 2_048

const CHARGE = { currency: 'USD', price: '0.0075', ptf: '0.003' }
const ACCEPTED = {
  ...{ kind: 'accepted', planId: 1, routeId: 2, sender: 'Aldis', recipient: '+15551230000', body: 'hello' },
  ...{ segments: 1, country: 'US', callbackUrl: null, optedOut: false, discardsText: false, begun: true },
} as const

interface Addition {
  readonly name: string
  readonly run: (index: number) => unknown
  readonly stop?: () => Promise<void>
}

const log = createLog('warn')
const recipients = Array.from({ length: RANGES }, (_, range) => `+1555${String(range).padStart(3, '0')}1234`)
const recipientOf = (index: number) => recipients[index % RANGES]!

/** Each is measured with so many messages, behind a tenth of them that do not count. */
export async function measureAdditions(rig: Rig, messages: number): Promise<AdditionCost[]> {
  rig.progress.phase('additions')
  const dataDir = join(rig.folder, 'additions')
  const database = await startEmbedded({ dataDir, explain: false, log: () => undefined })
  rig.resources.defer(() => database.stop())
  await migrate({ connectionString: database.url })
  const db = openDatabase({ connectionString: database.url, poolSize: 1 })
  rig.resources.defer(() => db.end())
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
  const backend = rows[0]!.pid
  const costs: AdditionCost[] = []
  for (const addition of await additions(db)) {
    await measure(addition, Math.ceil(messages / 10), backend)
    costs.push({ name: addition.name, ...(await measure(addition, messages, backend)) })
    await addition.stop?.()
  }
  return [...costs, { name: `traces of ${100 * TRACED_SHARE} %`, nodeUs: tracesUs(messages), databaseUs: 0 }]
}

/** CPU of a message. An empty loop of the same kind is taken off. */
async function measure({ run }: Pick<Addition, 'run'>, messages: number, backend: number) {
  const idleUs = await loopUs(() => undefined, messages)
  const beforeMs = processCpuMs(backend)
  const nodeUs = (await loopUs(run, messages)) - idleUs
  return {
    nodeUs: Math.max(nodeUs, 0) / messages,
    databaseUs: ((processCpuMs(backend) - beforeMs) * 1_000) / messages,
  }
}

async function loopUs(run: (index: number) => unknown, messages: number): Promise<number> {
  const beforeUs = cpuUs()
  for (let index = 0; index < messages; index += 1) {
    const result = run(index)
    if (result instanceof Promise) await result
  }
  return cpuUs() - beforeUs
}

/** CPU of this process so far: what others do on the machine counts less than by the clock. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function additions(db: Database): Promise<Addition[]> {
  const { rows } = await db.query<{ id: number }>(
    `with a as (insert into accounts (account_id, name, webhook_secret) values (repeat('a', 24), 'a', 'x') returning id)
     insert into service_plans (service_plan_id, account_id, name) select repeat('b', 24), id, 'plan' from a returning id`,
  )
  const plan = limitedPlan(rows[0]!.id)
  const rate = { id: 1, planId: null, country: null, mccmnc: null, prefix: null, ...CHARGE }
  const directory = aDirectory({ plans: [plan], rates: [rate] })
  const parts = { db, directory: () => directory, log, clock: Date.now }
  const caps = new CapShares({ ...parts, onReached: () => Promise.resolve() })
  const pauses = new CountryPauses({ ...parts, onPaused: () => Promise.resolve() })
  const shares = new RateShares({ ...parts, isAlone: () => false })
  const limit = { perSecond: 10_000_000, burst: 10_000_000 }
  return [
    { name: 'allowed countries', run: (index) => judgeRecipient(plan, recipientOf(index)) },
    {
      name: 'four caps',
      run: (index) => caps.take({ plan, recipient: recipientOf(index), segments: 1 }),
      stop: () => caps.stop(),
    },
    {
      name: 'pumping guard',
      run(index) {
        pauses.refusalOf(plan, recipientOf(index))
        pauses.count(plan, recipientOf(index))
      },
      stop: () => pauses.stop(),
    },
    {
      name: 'rates of account and plan over nodes',
      run(index) {
        const nowMs = Date.now()
        const ofAccount = shares.accounts.take(1, limit, nowMs)
        const ofPlan = shares.plans.take(plan.id, limit, nowMs)
        return index % 100 === 0 ? Promise.all([ofAccount, ofPlan]) : undefined
      },
      stop: () => shares.stop(),
    },
    { name: 'statistics', run: countedBy(new StatisticsTallies()) },
  ]
}

/** Counts a message that is accepted, sent and delivered, with two webhooks. */
function countedBy(tallies: StatisticsTallies): () => void {
  const nowMs = Date.now()
  const accepted = { ...ACCEPTED, expiresAtMs: nowMs + 3_600_000 }
  const message = { msgId: messageId(nowMs, randomBytes(9), 0), accepted }
  const taken = acceptedState(1, nowMs)
  const at = { carrierId: 3, routeId: 2, errorCode: '000', charge: CHARGE }
  const sent = { ...taken, ...at, status: 'SENT', sequence: 1, sentAtMs: nowMs + 60 } as const
  const delivered = { ...sent, status: 'DELIVERED', sequence: 2, changedAtMs: nowMs + 1_060 } as const
  const fact = { kind: 'receipt' } as LaterFact
  return () => {
    tallies.accepted(nowMs, accepted, 2)
    tallies.changed(nowMs, { message, before: taken, after: sent, fact })
    tallies.changed(nowMs, { message, before: sent, after: delivered, fact })
    tallies.webhook(nowMs, 1, 'US', 10)
    tallies.webhook(nowMs, 1, 'US', 10)
  }
}

function limitedPlan(id: number): ServicePlan {
  const most = 1_000_000_000
  return aPlan({
    id,
    allowedCountries: new Set(['US', 'DE', 'FR']),
    caps: {
      messagesPerDay: most,
      messagesPerMonth: most,
      costPerDay: String(most),
      costPerMonth: String(most),
      currency: 'USD',
    },
    pumpingGuard: {
      messagesPerPrefix: 100_000,
      minDelivered: 50,
      minMessages: 100,
      windowMinutes: 60,
      pauseMinutes: 60,
    },
  })
}

function tracesUs(messages: number): number {
  const ids = Array.from({ length: 100_000 }, () => messageId(Date.now(), randomBytes(9), 7))
  let traced = 0
  const decide = () => {
    for (const id of ids) if (isTraced(id, TRACED_SHARE)) traced += 1
  }
  decide()
  const beforeUs = cpuUs()
  const rounds = Math.max(1, messages / ids.length)
  for (let round = 0; round < rounds; round += 1) decide()
  const decisionUs = (cpuUs() - beforeUs) / ids.length / rounds
  spansUs(ids)
  const messageUs = Math.min(...Array.from({ length: 5 }, () => spansUs(ids)))
  return DECISIONS * decisionUs + (traced === 0 ? 0 : TRACED_SHARE * messageUs)
}

/** The spans of one traced message. */
function spansUs(ids: readonly string[]): number {
  const directory = aDirectory()
  const traces = new Traces({
    collector: { url: 'http://127.0.0.1:1/v1/traces', headers: {}, serviceName: 'bench', timeoutMs: 100 },
    share: TRACED_SHARE,
    nodeName: 'bench',
    version: '0',
    directory: () => directory,
    clock: Date.now,
    log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    count: () => undefined,
  })
  const accepted = { kind: 'accepted', planId: 1, segments: 1 } as Accepted
  const messages = Math.floor(MOST_SPANS / SPANS)
  const beforeUs = cpuUs()
  for (let index = 0; index < messages; index += 1)
    for (let span = 0; span < SPANS; span += 1) traces.accepted(ids[index]!, accepted, 1, undefined)
  const us = (cpuUs() - beforeUs) / messages
  void traces.stop()
  return us
}
