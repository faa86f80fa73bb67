import type { RouteOptions } from 'fastify'
import { SharedSlots } from '../collections/shared-room.ts'
import type { RateLimit } from '../domain/configuration/configuration.ts'
import { refusalHeaders } from '../domain/limits/rate-limits.ts'
import { AppError } from '../errors.ts'
import { tokenOf } from './authentication.ts'

/** When this many wait, of which one account has at most half, no more are accepted. */
const MAX_WAITING = 500
const WAITING_OF_ONE: RateLimit = { perSecond: MAX_WAITING / 2, burst: MAX_WAITING / 2 }

/**
 * Runs work of many accounts, some at a time. An account may have at most as many running as are left free, and waiting
 * accounts take turns. So an account whose requests take long makes only itself wait.
 */
export class SharedTurns {
  readonly #running: SharedSlots
  readonly #waiting = new SharedSlots(MAX_WAITING)
  /** By account; the one served last is at the end. */
  readonly #queues = new Map<number, (() => void)[]>()

  /** `turns`: how many run at once. */
  constructor(turns: number) {
    this.#running = new SharedSlots(turns)
  }

  /** Returns the result of `work` when it is the account's turn; throws RATE_LIMITED when too much of it waits already. */
  async run<T>(account: number, work: () => T | Promise<T>): Promise<T> {
    if (this.#queues.has(account) || !this.#running.take(account)) await this.#turnOf(account)
    try {
      return await work()
    } finally {
      this.#running.release(account)
      this.#startNext()
    }
  }

  async #turnOf(account: number): Promise<void> {
    if (!this.#waiting.take(account)) {
      throw new AppError('RATE_LIMITED', { headers: refusalHeaders('waiting', WAITING_OF_ONE, 1_000) })
    }
    await new Promise<void>((start) => {
      const queue = this.#queues.get(account)
      if (queue === undefined) this.#queues.set(account, [start])
      else queue.push(start)
    })
    this.#waiting.release(account)
  }

  #startNext(): void {
    for (const [account, queue] of [...this.#queues]) {
      if (!this.#running.take(account)) continue
      const start = queue.shift()!
      this.#queues.delete(account)
      if (queue.length > 0) this.#queues.set(account, queue)
      start()
    }
  }
}

/** A hook (`onRoute`) that makes each request of a customer wait for its account's turn before it is handled. */
export function inTurns(turns: SharedTurns) {
  return (route: RouteOptions) => {
    const { handler } = route
    route.handler = function (request, reply) {
      return turns.run(tokenOf(request).account.id, () => handler.call(this, request, reply))
    }
  }
}
