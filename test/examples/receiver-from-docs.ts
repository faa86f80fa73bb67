/**
 * A receiver as an integrator writes it from docs/webhooks.md alone: no client, no dependencies. If it stops working, the guide
 * or the service has changed.
 *
 * `serve` takes webhooks and reads from the feed what none brought; it prints each event once, those of a message in order.
 * `test`, `failed`, `redeliver`, `pause` and `resume` are what one does by hand beside it; they print the answer.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'

type Data = {
  msgId: string
  direction: string
  status?: string
  from: string
  body: string
  keyword?: string
}
type Event = { eventId: string; sequence: number; data: Data }
type Read = { cursor: string | null; gap: boolean }
type Page = Read & { items: Event[]; hasMore: boolean }
type Failed = { eventId: string; responseStatus: number | null }
type Redelivered = { redelivered: number; nextAfter: string | null }

const MAX_BODY = 1_048_576
const MAX_TRIES = 5

/** As the guide prints it. */
function isOurs(headers: IncomingHttpHeaders, rawBody: Buffer, secrets: string[]): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  if (!id || typeof signature !== 'string') return false
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const given = signature.split(' ').map((one) => Buffer.from(one))
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64')
    const wanted = Buffer.from(`v1,${mac}`)
    return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted))
  })
}

/**
 * What came, each event once: lines of a file, each on the disk before its events are answered. What it knows of messages is
 * in memory and grows with them; a receiver that stays uses a database.
 */
class Journal {
  #cursor: string | null = null
  /** Of each message the last sequence that was worked on. */
  readonly #done = new Map<string, number>()
  /** Events that came before an earlier one of their message, by their id. */
  readonly #held = new Map<string, Event>()
  readonly #file: number
  readonly #work: (event: Event, via: string) => void

  constructor(path: string, work: (event: Event, via: string) => void) {
    this.#work = (event, via) => {
      if (via !== 'journal') work(event, via)
    }
    if (existsSync(path)) {
      const bytes = readFileSync(path)
      const end = bytes.lastIndexOf('\n') + 1
      truncateSync(path, end) // A line that was cut short was not answered.
      const lines = bytes.subarray(0, end).toString().split('\n').slice(0, -1)
      for (const line of lines) this.#apply(JSON.parse(line), 'journal')
    }
    this.#file = openSync(path, 'a')
  }

  get cursor(): string | null {
    return this.#cursor
  }

  /** Keeps those of `events` that are new, together with how far the feed was read; how many were new. */
  keep(via: string, events: readonly Event[], read: Read = { cursor: this.#cursor, gap: false }): number {
    const fresh = events.filter((event) => !this.#isThere(event))
    if (fresh.length === 0 && read.cursor === this.#cursor) return 0
    const line = { events: fresh, cursor: read.cursor, gap: read.gap }
    writeFileSync(this.#file, `${JSON.stringify(line)}\n`)
    fsyncSync(this.#file)
    this.#apply(line, via)
    return fresh.length
  }

  #isThere({ eventId, sequence, data }: Event): boolean {
    return sequence <= (this.#done.get(data.msgId) ?? -1) || this.#held.has(eventId)
  }

  #apply(line: Read & { events: readonly Event[] }, via: string): void {
    this.#cursor = line.cursor
    for (const event of line.events) this.#held.set(event.eventId, event)
    for (const { eventId, sequence, data } of line.events) {
      if (sequence === 0) this.#finish(eventId, via)
      while (this.#finish(`${data.msgId}-${(this.#done.get(data.msgId) ?? 0) + 1}`, via)) {}
    }
    if (!line.gap) return
    // What they wait for may be gone for good.
    const waiting = [...this.#held.values()].sort((one, other) => one.sequence - other.sequence)
    for (const { eventId } of waiting) this.#finish(eventId, via)
  }

  #finish(eventId: string, via: string): boolean {
    const event = this.#held.get(eventId)
    if (!event) return false
    this.#held.delete(eventId)
    this.#done.set(event.data.msgId, event.sequence)
    this.#work(event, via)
    return true
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > MAX_BODY) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The status that a webhook is answered with. */
async function receive(request: IncomingMessage, journal: Journal, secrets: string[]): Promise<number> {
  if (request.method !== 'POST') return 405
  const body = await bodyOf(request)
  if (body === null) return 413
  if (!isOurs(request.headers, body, secrets)) {
    say({ refused: request.headers['webhook-id'] ?? null })
    return 401
  }
  const eventId = String(request.headers['webhook-id'])
  const data = JSON.parse(body.toString()) as Data
  // The id is signed, the header aldis-sequence is not.
  const sequence = Number(eventId.slice(eventId.lastIndexOf('-') + 1))
  if (data.direction !== 'MT' && data.direction !== 'MO') say({ unknown: eventId })
  else if (request.headers['aldis-test'] === 'true') say({ test: data.direction })
  else if (journal.keep('webhook', [{ eventId, sequence, data }]) === 0) say({ repeated: eventId })
  return 200
}

function say(line: object): void {
  console.log(JSON.stringify(line))
}

function setting(name: string): string {
  return process.env[name] ?? fail(`${name} is not set`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** A request to the API; waits when it is told to. */
async function api<T>(path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${setting('ALDIS_TOKEN')}`, 'content-type': 'application/json' }
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${setting('ALDIS_URL')}${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const answer = await response.text()
    if (response.ok) return JSON.parse(answer)
    if (response.status !== 429 || attempt === MAX_TRIES) throw new Error(`${response.status} ${answer}`)
    await setTimeout(Number(response.headers.get('retry-after')) * 1_000)
  }
}

/** Reads the feed from where it was left to its end. */
async function catchUp(journal: Journal): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    const { cursor } = journal
    const plan = { servicePlanId: setting('ALDIS_PLAN'), limit: '1000' }
    const query = new URLSearchParams({ ...plan, ...(cursor !== null && { cursor }) })
    const page = await api<Page>(`/v1/events?${query}`)
    journal.keep('feed', page.items, page)
    hasMore = page.hasMore
  }
}

async function serve(port: number, path: string, everySeconds: number): Promise<void> {
  const secrets = setting('ALDIS_WEBHOOK_SECRETS').split(' ')
  const journal = new Journal(path, ({ eventId, data }, via) => {
    say({ event: eventId, via, ...(data.direction === 'MT' ? { status: data.status } : { body: data.body }) })
  })
  const failed = (error: unknown) => say({ error: String(error) })
  const server = createServer(async (request, response) => {
    const status = await receive(request, journal, secrets).catch((error) => failed(error) ?? 500)
    response.writeHead(status).end()
  })
  server.listen(port, '127.0.0.1', () => say({ listening: (server.address() as AddressInfo).port }))
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort(server.close()))
  while (!ending.signal.aborted) {
    await catchUp(journal).catch(failed)
    await setTimeout(everySeconds * 1_000, undefined, { signal: ending.signal }).catch(() => undefined)
  }
}

/** What failed, all pages of it. */
async function listFailed(servicePlanId: string): Promise<Failed[]> {
  const failed: Failed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const filter = { servicePlanId, state: 'failed', limit: '100' }
    const query = new URLSearchParams({ ...filter, ...(cursor && { cursor }) })
    const page = await api<{ items: Failed[]; pagination: { nextCursor: string | null } }>(
      `/v1/webhooks/events?${query}`,
    )
    failed.push(...page.items)
    cursor = page.pagination.nextCursor
  }
  return failed
}

/** All that failed, or was kept because there was no URL; how many. */
async function redeliver(servicePlanId: string, state: string): Promise<number> {
  let redelivered = 0
  for (let after: string | null = ''; after !== null; ) {
    const which: object = { servicePlanId, ...(state === 'kept' && { state }), ...(after && { after }) }
    const answer: Redelivered = await api('/v1/webhooks/redeliver', which)
    redelivered += answer.redelivered
    after = answer.nextAfter
  }
  return redelivered
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '9000' },
    journal: { type: 'string', default: 'events.jsonl' },
    'feed-every': { type: 'string', default: '60' },
    url: { type: 'string', default: '' },
    state: { type: 'string', default: 'failed' },
  },
})

const command = positionals[0] ?? 'serve'
const { url } = values
if (command === 'serve') await serve(Number(values.port), values.journal, Number(values['feed-every']))
else {
  const servicePlanId = setting('ALDIS_PLAN')
  const change = async () => {
    const destination = new URL(url).origin
    return await api<object>(`/v1/webhooks/destinations/${command}`, { servicePlanId, destination })
  }
  const commands: Record<string, () => Promise<object>> = {
    test: () => api('/v1/webhooks/test', { servicePlanId, ...(url && { url }) }),
    failed: () => listFailed(servicePlanId),
    redeliver: async () => ({ redelivered: await redeliver(servicePlanId, values.state) }),
    pause: change,
    resume: change,
  }
  say(await (commands[command] ?? fail(`no such command: ${command}`))())
}
