import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { EventLoopLag } from '../event-loop-lag.ts'
import { CallbackGuard } from './callback-guard.ts'
import { paced } from './paced.ts'
import { NameResolver } from './resolver.ts'
import {
  eachWebhook,
  type Flat,
  type FromThread,
  flatOutcome,
  type LeaseOrder,
  type ThreadLoad,
  type ToThread,
} from './thread-messages.ts'
import { sendWebhook, type WebhookAccount } from './webhook-post.ts'
import type { WebhookThreadOptions } from './webhook-sender.ts'
import { WebhookSockets } from './webhook-sockets.ts'

/** The program of WebhookSender's thread: sends the webhooks it gets, and reports their outcomes. */

const MAX_ACCOUNTS = 1_000
/** Defects of ours that many webhooks meet are reported together. */
const REPORT_EVERY_MS = 60_000

const port = parentPort!
const { callbackPolicy, dnsServers, tracedShare = 0, ...options } = workerData as WebhookThreadOptions
const resolver = new NameResolver({ servers: dnsServers })
const sockets = new WebhookSockets(new CallbackGuard(callbackPolicy, resolver), options)
/** By their JSON text, so that keys and heads are prepared once for each account. */
const accounts = new LRUCache<string, WebhookAccount>({ max: MAX_ACCOUNTS })
const lag = new EventLoopLag()
let usedBefore = performance.eventLoopUtilization()
let outcomes: Flat[number][] = []
let lease = { nodeId: 0, untilMs: Number.POSITIVE_INFINITY }
let defects = 0
let reportedAtMs = Number.NEGATIVE_INFINITY
const planFlush = paced(flush)

port.on('message', (message: ToThread) => {
  if (message === 'abort') void sockets.destroy()
  else if (message === 'close') void close()
  else if (message === 'measure') port.postMessage(measure())
  else if ('untilMs' in message) extend(message)
  else eachWebhook(message, accountOf, send)
})

async function send(slot: number, account: WebhookAccount, webhook: Webhook): Promise<void> {
  const outcome = await sendWebhook(sockets, account, webhook, { lease, onDefect, tracedShare })
  outcomes.push(...flatOutcome(slot, outcome))
  planFlush()
}

function onDefect(error: unknown): void {
  defects += 1
  const nowMs = performance.now()
  if (nowMs - reportedAtMs < REPORT_EVERY_MS) return
  reportedAtMs = nowMs
  const { name, stack = '' } = error as Error
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  const thrown = [name, ...frames.slice(0, 3)].join('\n')
  port.postMessage({ defects, thrown } satisfies FromThread)
  defects = 0
}

function extend({ nodeId, untilMs }: LeaseOrder): void {
  if (nodeId === lease.nodeId) lease.untilMs = untilMs
  else {
    lease.untilMs = Number.NEGATIVE_INFINITY
    lease = { nodeId, untilMs }
  }
}

function accountOf(text: string): WebhookAccount {
  const known = accounts.get(text)
  if (known !== undefined) return known
  const account: WebhookAccount = JSON.parse(text)
  accounts.set(text, account)
  return account
}

function flush(): void {
  if (outcomes.length === 0) return
  port.postMessage(outcomes)
  outcomes = []
}

function measure(): ThreadLoad {
  const used = performance.eventLoopUtilization()
  const { utilization } = performance.eventLoopUtilization(used, usedBefore)
  usedBefore = used
  const lagP99 = lag.percentile(99)
  lag.reset()
  return { utilization, lagP99 }
}

async function close(): Promise<void> {
  await sockets.close()
  resolver.close()
  // The last outcomes are noted in this turn of the event loop, so they are flushed after it.
  setImmediate(() => {
    flush()
    port.close()
  })
}
