/** Follows the feed of a plan's events from its beginning, whatever happens to the service. */
import type { Ready } from '../support/process.ts'

interface FeedItem {
  readonly eventId: string
  readonly data: object
}

/** Between two tries, and when there is nothing more to read. */
const PAUSE_MS = 100

export class FeedReader {
  readonly items: FeedItem[] = []
  readonly #access: Ready
  readonly #loop: Promise<void>
  #cursor: string | null = null
  #stopped = false

  constructor(access: Ready) {
    this.#access = access
    this.#loop = this.#read()
  }

  /** Reads on to the end that it has now. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#loop
  }

  async #read(): Promise<void> {
    for (;;) {
      const isLast = this.#stopped
      const more = await this.#page().catch(() => null)
      if (isLast && more === false) return
      if (more !== true) await new Promise((wake) => setTimeout(wake, PAUSE_MS))
    }
  }

  /** True: there is more. Null: no answer. */
  async #page(): Promise<boolean | null> {
    const { baseUrl, servicePlanId, token } = this.#access
    const query = new URLSearchParams({
      servicePlanId,
      limit: '1000',
      ...(this.#cursor && { cursor: this.#cursor }),
    })
    const answer = await fetch(`${baseUrl}/v1/events?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (!answer.ok) return null
    const page = (await answer.json()) as { items: FeedItem[]; cursor: string; hasMore: boolean }
    this.items.push(...page.items)
    this.#cursor = page.cursor
    return page.hasMore
  }
}
