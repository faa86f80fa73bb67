/** Follows the feed of a plan's events from its beginning, over any node, whatever happens to the service. */
import { nowMs, pause } from './clock.ts'
import { type FeedItem, numberIn } from './ledgers.ts'
import { digestOf } from './receiver.ts'
import { type Plan, read } from './service-client.ts'

const PAUSE_MS = 250
/** After a stop, it must reach the feed's end within this time. */
const LAST_MS = 15_000

export class FeedReader {
  readonly #plan: Plan
  readonly #nodes: readonly string[]
  readonly #items: FeedItem[]
  readonly #onItem: (item: FeedItem) => void
  readonly #loop: Promise<void>
  #cursor: string | null = null
  #turn = 0
  #stopAtMs = Number.POSITIVE_INFINITY

  constructor(plan: Plan, nodes: readonly string[], items: FeedItem[], onItem: (item: FeedItem) => void) {
    this.#plan = plan
    this.#nodes = nodes
    this.#items = items
    this.#onItem = onItem
    this.#loop = this.#read()
  }

  /** Reads up to the feed's current end. */
  async stop(): Promise<void> {
    this.#stopAtMs = nowMs()
    await this.#loop
  }

  /** Stops reading. */
  async abort(): Promise<void> {
    this.#stopAtMs = Number.NEGATIVE_INFINITY
    await this.#loop
  }

  async #read(): Promise<void> {
    for (;;) {
      const begunAtMs = nowMs()
      const hasMore = await this.#page().catch(() => null)
      const isOver = hasMore === false && begunAtMs > this.#stopAtMs
      if (isOver || nowMs() > this.#stopAtMs + LAST_MS) return
      if (hasMore !== true) await pause(PAUSE_MS)
    }
  }

  /** Whether more can be read at once; null: no answer. */
  async #page(): Promise<boolean | null> {
    const { json, status } = await read(
      this.#nodes[this.#turn++ % this.#nodes.length]!,
      this.#plan,
      '/v1/events',
      { limit: '1000', ...(this.#cursor && { cursor: this.#cursor }) },
    )
    if (status !== 200) return null
    for (const { eventId, sequence, data } of json.items) {
      const item: FeedItem = {
        plan: this.#plan.index,
        eventId,
        msgId: data.msgId,
        sequence,
        status: data.status ?? null,
        k: data.status === undefined ? numberIn(data.body) : null,
        digest: digestOf(JSON.stringify(data)),
        atMs: nowMs(),
      }
      this.#items.push(item)
      this.#onItem(item)
    }
    this.#cursor = json.cursor
    return json.hasMore
  }
}
