import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServerCertificate, createTestAuthority } from '../test/support/certificates.ts'
import { type Accepts, acceptFigures, runAccepts } from './accepts.ts'
import { type AdditionCost, measureAdditions } from './additions.ts'
import { type Aldis, startAldis } from './aldis/aldis.ts'
import { planIdOf } from './aldis/database.ts'
import { selfTimesText } from './aldis/profile.ts'
import { DatabaseActivity } from './aldis/statements.ts'
import type { Fill, Parts } from './end-to-end.ts'
import { type ListFigure, measureLists } from './lists/lists.ts'
import { makeRecords } from './lists/records.ts'
import { describeMachine } from './machine.ts'
import { type MessageFigures, requireTotals, runMessages, startParts } from './message-run.ts'
import type { BenchOptions } from './options.ts'
import { type Queued, queuedFigures, runQueued } from './queued.ts'
import type { Rig } from './rig.ts'
import type { Ledgers } from './tools/ledgers.ts'
import type { ReceiverConfig } from './tools/receiver.ts'
import type { Toolbox } from './tools/tools.ts'
import { acceptedCount } from './totals.ts'
import { measureWebhooks, type WebhookFigures } from './webhooks/webhooks.ts'

/** Aldis alone: messages, accepts and the webhook part. */

export interface Figures extends MessageFigures {
  readonly machine: Readonly<Record<string, string>>
  readonly options: BenchOptions
  readonly queued: Queued | null
  readonly accepts: Accepts | null
  readonly checked: number
  readonly lists: readonly ListFigure[] | null
  readonly webhooks: WebhookFigures | null
  readonly additions: readonly AdditionCost[] | null
}

type AldisParts = Parts & { readonly subject: Aldis }

/** `fill` runs before the full rate. @throws (rejects) Error when the run has no figures. */
export async function measureAldis(
  newRig: () => Rig,
  options: BenchOptions,
  fill: Fill | null = null,
): Promise<Figures> {
  const rig = newRig()
  try {
    return await Promise.race([measureWith(rig, options, fill), rig.fault])
  } finally {
    const complaints = rig.complaints()
    await rig.close()
    if (complaints !== '') process.stderr.write(`The service complained:\n${complaints}\n`)
  }
}

async function measureWith(rig: Rig, options: BenchOptions, fill: Fill | null): Promise<Figures> {
  const { acceptSeconds, webhookSeconds } = options
  const authority = options.tls ? await createTestAuthority() : null
  const tls = authority === null ? null : await createServerCertificate(authority, ['127.0.0.1'])
  const tools = await rig.tools()
  const parts = await startParts(rig, tools, options, tls, (carrier, receiver) =>
    startAldis(rig, {
      logLevel: options.logLevel,
      caPem: authority?.certPem ?? null,
      explain: options.profile !== null,
      carrierPort: carrier.port,
      window: options.window,
      workers: options.workers,
      nodes: options.nodes,
      callbackUrl: `${receiver.origin}/receipts`,
      pastDays: Math.max(options.pastDays, options.records > 0 ? options.recordDays : 0),
    }),
  )
  const { db } = parts.subject
  if (options.records > 0) await makeEarlierRecords(parts, options)
  const machine = { ...(await describeMachine(db)), tools: tools.description }
  const figures = await (options.profile === null
    ? runMessages(parts, options, { fill })
    : profiled(parts, options, options.profile))
  const queuedRun = options.queued === 0 ? null : await runQueued(parts, options)
  const acceptRun = acceptSeconds === 0 ? null : await runAccepts(parts, acceptSeconds)
  // With the webhook part alone this load sends nothing, and that part has totals of its own.
  const isAlone = options.seconds === 0 && acceptSeconds === 0 && options.queued === 0
  const ofMessages = await takeFigures(parts, isAlone, (ledgers) => ({
    ...figures(ledgers),
    queued: queuedRun === null ? null : queuedFigures(queuedRun, ledgers),
    accepts: acceptRun === null ? null : acceptFigures(acceptRun, ledgers),
    checked: acceptedCount(ledgers),
  }))
  const lists = options.records === 0 ? null : await measureLists(parts.subject, rig.progress)
  const webhooks = webhookSeconds === 0 ? null : await measureWebhookPart(parts, tools, tls, webhookSeconds)
  const messages = options.additionMessages
  const additions = messages === 0 ? null : await measureAdditions(rig, messages)
  return { machine, options, ...ofMessages, lists, webhooks, additions }
}

/**
 * Compares the ledgers and takes the figures from them. Nothing keeps their 700,000 entries afterwards: with them, each
 * collection of garbage paused this process for up to 80 ms while it timed lists.
 */
async function takeFigures<Taken>(
  parts: AldisParts,
  isAlone: boolean,
  figuresOf: (ledgers: Ledgers) => Taken,
): Promise<Taken> {
  return figuresOf(isAlone ? { load: [], receiver: [], carrier: [] } : await requireTotals(parts, true))
}

async function makeEarlierRecords({ rig, subject }: AldisParts, options: BenchOptions): Promise<void> {
  rig.progress.phase(`${options.records} records of earlier days`)
  const { db, ready, customer, startedMs } = subject
  const planId = await planIdOf(db, customer.servicePlanId)
  const { records, recordDays: days } = options
  await makeRecords({ databaseUrl: ready.databaseUrl, planId, records, days, nowMs: startedMs })
}

function measureWebhookPart(
  { rig, subject }: AldisParts,
  tools: Toolbox,
  tls: ReceiverConfig['tls'],
  seconds: number,
): Promise<WebhookFigures> {
  const openReceiver = (hangs: boolean) => tools.hangingReceiver({ tls, hangs })
  return measureWebhooks({ rig, aldis: subject, tools, db: subject.db, openReceiver }, seconds)
}

/** The messages with the service's CPU profile and PostgreSQL's own figures beside them. */
async function profiled(parts: AldisParts, options: BenchOptions, folder: string) {
  const { subject, rig } = parts
  const activity = new DatabaseActivity(subject.db)
  let profile: object = {}
  const figures = await runMessages(parts, options, {
    onStart: async () => {
      await activity.start()
      await subject.child.request('startProfile')
    },
    onEnd: async () => {
      profile = await subject.child.request<object>('stopProfile')
      await activity.stop()
    },
  })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'aldis.cpuprofile'), JSON.stringify(profile))
  copyFileSync(join(rig.folder, 'data', 'postgres.log'), join(folder, 'plans.log'))
  return (ledgers: Parameters<typeof figures>[0]) => {
    const all = figures(ledgers)
    process.stdout.write(`${selfTimesText(profile)}\n${activity.text(all.endToEnd?.messages ?? 0)}\n`)
    return all
  }
}
