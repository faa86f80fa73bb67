/**
 * A client that sends without pause and keeps a ledger of what it was answered, whatever happens to the service.
 */
import { Pool } from 'undici'
import type { Ready } from '../support/process.ts'

/** What the client knows of message number n; without an answer it knows nothing. */
export interface Entry {
  readonly n: number
  status: number | null
  msgId: string | null
}

const CONNECTIONS = 16
/** Between two tries while nothing listens. */
const RETRY_MS = 250
/** Three segments of the GSM alphabet. */
const LONG_CHARACTERS = 400

/** Every segment of message n has its number, whole. */
function textOf(n: number): string {
  const mark = `<${n}>`
  return n % 10 === 0 ? mark.repeat(Math.floor(LONG_CHARACTERS / mark.length)) : mark
}

export function numberIn(text: string): number {
  return Number(/<(\d+)>/.exec(text)![1])
}

export class Load {
  readonly entries: Entry[] = []
  readonly #pool: Pool
  readonly #access: Ready
  readonly #fields: (n: number) => Record<string, unknown>
  readonly #loops: Promise<void>[]
  #stopped = false
  #accepted = 0
  #waiters: { count: number; resolve: () => void }[] = []

  /** `fields`: what message n has beside. */
  constructor(access: Ready, fields: (n: number) => Record<string, unknown> = () => ({})) {
    this.#access = access
    this.#fields = fields
    this.#pool = new Pool(access.baseUrl, { connections: CONNECTIONS, pipelining: 1 })
    this.#loops = Array.from({ length: CONNECTIONS }, () => this.#loop())
  }

  /** Resolves when `count` more messages have been answered 202. */
  accepted(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiters.push({ count: this.#accepted + count, resolve })
    return promise
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
    await this.#pool.close()
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      const entry: Entry = { n: this.entries.length, status: null, msgId: null }
      this.entries.push(entry)
      await this.#send(entry)
      if (entry.status === null) await new Promise((wake) => setTimeout(wake, RETRY_MS))
    }
  }

  async #send(entry: Entry): Promise<void> {
    const { token, servicePlanId, sender } = this.#access
    const to = `+1555123${2_000 + (entry.n % 7_000)}`
    try {
      const { statusCode, body } = await this.#pool.request({
        method: 'POST',
        path: '/v1/sendsms',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          servicePlanId,
          channel: 'SMS',
          from: sender,
          to,
          body: textOf(entry.n),
          ...this.#fields(entry.n),
        }),
      })
      const { msgId = null } = (await body.json()) as { msgId?: string }
      entry.status = statusCode
      entry.msgId = msgId
    } catch {
      // Refused, reset or cut off: the client does not know.
    }
    if (entry.status !== 202) return
    this.#accepted += 1
    for (const waiter of this.#waiters) if (waiter.count <= this.#accepted) waiter.resolve()
    this.#waiters = this.#waiters.filter(({ count }) => count > this.#accepted)
  }
}
