import { extname } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import type { CallbackPolicy } from '../domain/webhooks/callback-url.ts'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { paced } from './paced.ts'
import { sharedNowMs } from './send-lease.ts'
import {
  eachOutcome,
  type Flat,
  type FromThread,
  flatWebhook,
  type LeaseOrder,
  type ThreadLoad,
  type ToThread,
  type WebhookDefects,
} from './thread-messages.ts'
import { type DeliveryOutcome, UNANSWERED, type WebhookAccount } from './webhook-post.ts'
import type { WebhookSocketsOptions } from './webhook-sockets.ts'

/** Copied into the thread. */
export interface WebhookThreadOptions extends WebhookSocketsOptions {
  readonly callbackPolicy: CallbackPolicy
  readonly dnsServers: readonly string[]
  /** Time for a whole attempt, DNS to the end of the answer. */
  readonly totalTimeoutMs: number
  /** Share of all messages whose receivers get a `traceparent`, from 0 to 1. Default: 0. */
  readonly tracedShare?: number | undefined
}

export interface WebhookSenderOptions extends WebhookThreadOptions {
  /** The thread has died. It is restarted after `delayMs`. */
  readonly onDeath: (error: unknown, delayMs: number) => void
  readonly onDefects?: (defects: WebhookDefects) => void
}

type Ended = (outcome: DeliveryOutcome) => void

/** TypeScript when run from the sources, JavaScript when built. */
const THREAD = new URL(`webhook-thread${extname(import.meta.filename)}`, import.meta.url)

/** Delay before a restart, doubled at each death. It starts again at this value once a thread has lived for STEADY_MS. */
const BACK_OFF_MS = 100
const MOST_BACK_OFF_MS = 10_000
const STEADY_MS = 60_000
/** Time for the thread to end by itself, beyond that of an attempt. */
const CLOSING_MS = 1_000

const MEASURE_MS = 1_000
/** Time for the thread to say anything while it has webhooks, beyond that of an attempt. */
const HUNG_MS = 5_000

/** Nobody knows whether the request was sent. */
const LOST: DeliveryOutcome = { ...UNANSWERED, error: 'ABORTED' }

const UNUSED: ThreadLoad = { utilization: 0, lagP99: 0 }

/**
 * Hands webhooks to a thread of this process, which signs and sends them (docs/adr/0024). The first one starts it. The caller
 * limits how many are open at once. When the thread dies, all open ones end as ABORTED, and new ones wait for the next thread.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions
  /** Null: there was no webhook yet; or it has died, and will be restarted. */
  #thread: Worker | null = null
  #restart: NodeJS.Timeout | undefined
  /** Why the thread ended. */
  #fault: unknown
  #deaths = 0
  /** Callbacks of the open attempts, by slot. */
  #ended: (Ended | null)[] = []
  #free: number[] = []
  #batch = new Batch()
  readonly #measures: ((load: ThreadLoad) => void)[] = []
  #silent: NodeJS.Timeout | undefined
  /** Null: webhooks are sent whenever possible. */
  #lease: LeaseOrder | null = null
  /** Restarted by the first open attempt, by each answer and by each new thread. */
  readonly #hung: NodeJS.Timeout
  /** Runs once `#hung` is over: if this whole process stood still, it may not have read the thread's messages yet. */
  #lastChance: NodeJS.Timeout | undefined
  #isAborted = false
  #isClosed = false
  readonly #left = Promise.withResolvers<void>()

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#hung = setTimeout(() => this.#endHung(), options.totalTimeoutMs + HUNG_MS).unref()
  }

  /** `ended` is called once, in a later turn of the event loop or by `abort`. */
  post(account: WebhookAccount, webhook: Webhook, ended: Ended): void {
    if (this.#isAborted) {
      setImmediate(ended, LOST)
      return
    }
    if (this.#isUnused) this.#start()
    if (this.#isIdle) this.#hung.refresh()
    const slot = this.#free.pop() ?? this.#ended.length
    this.#ended[slot] = ended
    this.#batch.add(slot, account, webhook)
    this.#planFlush()
  }

  /**
   * Webhooks are sent within the lease under which they were posted, and end as ABORTED after it. `nodeId` names the lease,
   * which may be renewed until it ends.
   */
  renew(nodeId: number, leftMs: number): void {
    const isAnother = this.#lease?.nodeId !== nodeId
    this.#lease = { nodeId, untilMs: sharedNowMs() + leftMs }
    if (this.#thread === null) {
      if (isAnother) this.#endAll()
    } else if (isAnother) this.#order(this.#lease)
    else this.#thread.postMessage(this.#lease satisfies ToThread)
  }

  /** Ends all open and future webhooks as ABORTED. */
  abort(): void {
    this.#isAborted = true
    if (this.#thread === null) this.#endAll()
    else this.#order('abort')
  }

  /** How busy the thread has been since the last call. If it does not answer, its delay is at least MEASURE_MS. */
  async measure(): Promise<ThreadLoad> {
    if (this.#isUnused) return UNUSED
    return await new Promise((tell) => {
      this.#measures.push(tell)
      if (this.#measures.length > 1) return
      this.#thread?.postMessage('measure' satisfies ToThread)
      const silent = { utilization: 1, lagP99: MEASURE_MS / 1_000 }
      this.#silent = setTimeout(() => this.#measured(silent), MEASURE_MS).unref()
    })
  }

  /** Waits for webhooks in flight, at most the time of an attempt, and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const thread = this.#thread
    if (thread === null) this.#leave()
    else {
      this.#order('close')
      const late = setTimeout(() => void thread.terminate(), this.#options.totalTimeoutMs + CLOSING_MS)
      await this.#left.promise
      clearTimeout(late)
    }
  }

  get #isUnused(): boolean {
    return this.#thread === null && this.#deaths === 0
  }

  get #isIdle(): boolean {
    return this.#ended.length === this.#free.length
  }

  #start(): void {
    const { onDeath: _, onDefects: __, ...workerData } = this.#options
    const startedMs = performance.now()
    this.#fault = undefined
    const thread = new Worker(THREAD, { workerData, name: 'webhooks' })
    thread.on('message', (message: FromThread) => {
      if ('lagP99' in message) this.#measured(message)
      else if ('defects' in message) this.#options.onDefects?.(message)
      else {
        this.#hung.refresh()
        clearTimeout(this.#lastChance)
        eachOutcome(message, this.#end)
      }
    })
    thread.on('error', (error) => {
      this.#fault = error
    })
    thread.once('exit', () => {
      this.#thread = null
      if (this.#isClosed) this.#leave()
      else this.#died(performance.now() - startedMs)
    })
    this.#thread = thread
    this.#hung.refresh()
    if (this.#lease !== null) thread.postMessage(this.#lease satisfies ToThread)
    this.#flush()
  }

  #endHung(): void {
    const thread = this.#thread
    if (this.#isIdle || thread === null) return
    const end = () => {
      if (this.#thread !== thread) return
      this.#fault = new Error('the webhook thread hangs')
      void thread.terminate()
    }
    this.#lastChance = setTimeout(end, MEASURE_MS).unref()
  }

  #died(livedMs: number): void {
    this.#deaths = livedMs >= STEADY_MS ? 1 : this.#deaths + 1
    const delayMs = Math.min(BACK_OFF_MS * 2 ** (this.#deaths - 1), MOST_BACK_OFF_MS)
    this.#restart = setTimeout(() => this.#start(), delayMs)
    this.#options.onDeath(this.#fault, delayMs)
    this.#endAll()
  }

  #measured(load: ThreadLoad): void {
    clearTimeout(this.#silent)
    for (const tell of this.#measures.splice(0)) tell(load)
  }

  #leave(): void {
    this.abort()
    this.#left.resolve()
  }

  #order(order: ToThread): void {
    this.#flush()
    this.#thread?.postMessage(order)
  }

  readonly #planFlush = paced(() => this.#flush())

  #flush(): void {
    const { accounts, webhooks } = this.#batch
    if (webhooks.length === 0 || this.#thread === null) return
    this.#batch = new Batch()
    this.#thread.postMessage({ accounts, webhooks } satisfies ToThread)
  }

  readonly #end = (slot: number, outcome: DeliveryOutcome): void => {
    const ended = this.#ended[slot]!
    this.#ended[slot] = null
    this.#free.push(slot)
    ended?.(outcome)
  }

  #endAll(): void {
    const all = this.#ended
    this.#ended = []
    this.#free = []
    this.#batch = new Batch()
    for (const ended of all) ended?.(LOST)
  }
}

/** Webhooks that go to the thread together. */
class Batch {
  readonly webhooks: Flat[number][] = []
  readonly accounts: string[] = []
  readonly #accountIndexes = new Map<WebhookAccount, number>()

  add(slot: number, account: WebhookAccount, webhook: Webhook): void {
    let at = this.#accountIndexes.get(account)
    if (at === undefined) {
      at = this.accounts.push(textOf(account)) - 1
      this.#accountIndexes.set(account, at)
    }
    this.webhooks.push(...flatWebhook(slot, at, webhook))
  }
}

const texts = new WeakMap<WebhookAccount, string>()

function textOf(account: WebhookAccount): string {
  let text = texts.get(account)
  if (text === undefined) {
    const { webhookSecrets, webhookHeaders } = account
    text = JSON.stringify({ webhookSecrets, webhookHeaders })
    texts.set(account, text)
  }
  return text
}
