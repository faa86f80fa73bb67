/** A client that sends without pause over all nodes and keeps a ledger of every request, whatever happens to the service. */
import { Pool } from 'undici'
import { SENDER } from './bed.ts'
import { textOf } from './carrier.ts'
import { nowMs, pause } from './clock.ts'
import type { Answer, LoadEntry } from './ledgers.ts'
import type { Plan } from './service-client.ts'

const CONNECTIONS = 8
const ANSWER_TIMEOUT_MS = 20_000
/** Pause between two tries while nothing listens, or the database is away. */
const RETRY_MS = 100
/** How long a request with a key is repeated until it is answered. */
const PERSISTENCE_MS = 60_000
const LONG = 10
const KEYED = 8

export interface LoadOptions {
  /** Base URLs by node number. */
  readonly nodes: readonly string[]
  readonly plans: readonly Plan[]
  /** Requests a second, to all nodes together. */
  readonly rate: number
  /** A request that had no effect, because its node is stopped or starts, goes to the next node, even without a key. */
  readonly triesElsewhere: boolean
  readonly onAccepted: (entry: LoadEntry, answer: Answer) => void
}

export class Load {
  readonly entries: LoadEntry[] = []
  accepted = 0
  readonly #options: LoadOptions
  readonly #pools: Pool[]
  readonly #loops: Promise<void>[]
  readonly #startMs = nowMs()
  #sent = 0
  #stopped = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#pools = options.nodes.map(
      (url) =>
        new Pool(url, {
          connections: CONNECTIONS,
          pipelining: 1,
          headersTimeout: ANSWER_TIMEOUT_MS,
          bodyTimeout: ANSWER_TIMEOUT_MS,
          connectTimeout: 3_000,
        }),
    )
    this.#loops = options.nodes.flatMap((_, node) =>
      Array.from({ length: CONNECTIONS }, () => this.#loop(node)),
    )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
    await Promise.all(this.#pools.map((pool) => pool.destroy()))
  }

  async #loop(node: number): Promise<void> {
    while (!this.#stopped) {
      const dueMs = this.#startMs + (this.#sent / this.#options.rate) * 1_000
      if (dueMs > nowMs()) {
        await pause(Math.min(dueMs - nowMs(), RETRY_MS))
        continue
      }
      // Sends missed while no node took requests are not made up for.
      const behind = ((nowMs() - this.#startMs) / 1_000) * this.#options.rate - this.#sent
      this.#sent += behind > this.#options.rate ? behind : 1
      await this.#send(node)
    }
  }

  async #send(node: number): Promise<void> {
    const n = this.entries.length
    const { plans } = this.#options
    const plan = plans[n % plans.length]!
    const ownUrl = plan.callbackUrl !== null && Math.floor(n / plans.length) % 2 === 0
    const entry: LoadEntry = {
      n,
      plan: plan.index,
      segments: n % LONG === 0 ? 3 : 1,
      hasKey: n % KEYED === 0,
      isPushed: ownUrl || plan.defaultUrl !== null,
      answers: [],
    }
    this.entries.push(entry)
    const deadline = nowMs() + PERSISTENCE_MS
    for (let turn = node; ; turn += 1) {
      const answer = await this.#request(turn % this.#pools.length, entry, plan, ownUrl)
      entry.answers.push(answer)
      if (answer.failure !== null || answer.status === 503) await pause(RETRY_MS)
      if (answer.status === 202) {
        this.accepted += 1
        this.#options.onAccepted(entry, answer)
      }
      const isSettled = answer.status !== null && answer.status < 500
      const hadNoEffect = answer.failure === 'refused' || answer.status === 503
      const mayRepeat = entry.hasKey || (hadNoEffect && this.#options.triesElsewhere)
      if (isSettled || !mayRepeat || nowMs() > deadline) return
    }
  }

  async #request(node: number, entry: LoadEntry, plan: Plan, ownUrl: boolean): Promise<Answer> {
    const sentAtMs = nowMs()
    try {
      const { statusCode, body } = await this.#pools[node]!.request({
        method: 'POST',
        path: '/v1/sendsms',
        headers: {
          authorization: `Bearer ${plan.token}`,
          'content-type': 'application/json',
          ...(entry.hasKey ? { 'idempotency-key': `key-${entry.n}` } : {}),
        },
        body: JSON.stringify({
          servicePlanId: plan.servicePlanId,
          channel: 'SMS',
          from: SENDER,
          to: `+1555123${2_000 + (entry.n % 7_000)}`,
          body: textOf(entry.n, entry.segments),
          ...(ownUrl ? { callbackUrl: plan.callbackUrl } : {}),
        }),
      })
      const { msgId = null } = (await body.json()) as { msgId?: string }
      return { node, sentAtMs, answeredAtMs: nowMs(), status: statusCode, msgId, failure: null }
    } catch (error) {
      const failure = failureOf(error)
      return { node, sentAtMs, answeredAtMs: nowMs(), status: null, msgId: null, failure }
    }
  }
}

function failureOf(error: unknown): 'refused' | 'reset' | 'timeout' {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'refused'
  return code.endsWith('TIMEOUT') ? 'timeout' : 'reset'
}
