/**
 * A receiver of webhooks to begin one's own from:
 *
 *     ALDIS_WEBHOOK_SECRETS=whsec_… node examples/receiver.ts --port 9100 --file events.db
 *
 * It verifies a webhook, writes its event down, answers 200, and only then works on it. So nothing that was answered is
 * lost when it is killed, nothing is worked on twice because it came twice, and slow work makes no webhook time out. With
 * ALDIS_URL, ALDIS_TOKEN and ALDIS_PLAN it also reads the plan's feed of events, and so finds what no webhook brought: it
 * was away for longer than webhooks are tried again, or its address was wrong.
 *
 * Needs Node.js 22.18 or newer, which runs TypeScript and has SQLite; any database with a unique key does as well.
 * Put a proxy with TLS before it: Aldis delivers to https only, except for `aldis dev` on the same machine.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import {
  AldisClient,
  type FeedEvent,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '../client/src/index.ts'

/** Far above any webhook. */
const MAX_BODY_BYTES = 1024 * 1024
const RETRY_MS = 10_000
/** An id is forgotten when neither a webhook, redelivered by hand, nor the feed brings it again. */
const KEEP_DAYS = 100
const CATCH_UP_MS = 5 * 60_000

const { values: flags } = parseArgs({
  options: { port: { type: 'string', default: '9100' }, file: { type: 'string', default: 'events.db' } },
})
/** One, or two while a secret is being rotated, separated by spaces. */
const secrets = (process.env.ALDIS_WEBHOOK_SECRETS ?? '').split(' ').filter((secret) => secret !== '')
if (secrets.length === 0) {
  process.stderr.write('ALDIS_WEBHOOK_SECRETS: the whsec_… of the account is missing\n')
  process.exit(2)
}

/** Events in the order they came in. A row that is there is an event that is known, whether worked on or not. */
const events = new DatabaseSync(flags.file)
events.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full; -- what is answered 200 is on disk
  create table if not exists events (
    position integer primary key,
    id text not null unique,
    received_at text not null default current_timestamp,
    event text not null,
    done integer not null default 0
  ) strict;
  create index if not exists events_to_do on events (position) where done = 0;
  create table if not exists feeds (plan text primary key, cursor text not null) strict;`)
const insert = events.prepare('insert into events (id, event) values (?, ?) on conflict (id) do nothing')
const first = events.prepare('select position, event from events where done = 0 order by position limit 1')
const finish = events.prepare('update events set done = 1 where position = ?')
const forget = events.prepare(`delete from events where done = 1 and received_at < datetime('now', ?)`)
const readCursor = events.prepare('select cursor from feeds where plan = ?')
const writeCursor = events.prepare(
  'insert into feeds (plan, cursor) values (?, ?) on conflict (plan) do update set cursor = excluded.cursor',
)

/**
 * What the application does with it. Where it throws, or the process dies, it is given the event once more, and those that
 * came later wait: it has to allow for the first and must not throw for ever.
 */
async function handle(event: WebhookEvent | FeedEvent): Promise<void> {
  switch (event.type) {
    case 'deliveryReceipt':
      return print(`receipt ${event.data.msgId} ${event.data.status}`)
    case 'inboundMessage':
      return print(`inbound ${event.data.msgId} ${event.data.keyword ?? '-'}`)
    case 'limitReached':
      return print(`limit ${event.data.text}`)
    case 'unknown':
      return print(`unknown ${event.eventId}`)
  }
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return answer(response, 405)
  const rawBody = await read(request)
  if (rawBody === null) return answer(response, 413)
  let event: WebhookEvent
  try {
    event = await verifyWebhook(request.headers, rawBody, secrets)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    print(`refused ${error.code}`)
    // A wrong set-up here is no fault of the sender's: it will try again.
    return answer(response, error.code === 'INVALID_SECRET' ? 500 : 401)
  }
  if (event.test) {
    print(`test ${event.type}`)
    return answer(response, 200)
  }
  const { changes } = insert.run(event.eventId, JSON.stringify(event))
  answer(response, 200)
  if (changes === 0) print(`repeated ${event.eventId}`)
  else void work()
}

/** The body as it came, or null when it is too long; the server's requestTimeout bounds how long it takes. */
async function read(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null
}

let working = false

/** Works on what is not done, one after the other: so the events of a message keep their order. */
async function work(): Promise<void> {
  if (working) return
  working = true
  try {
    for (let next = first.get(); next !== undefined; next = first.get()) {
      await handle(JSON.parse(String(next.event)))
      finish.run(next.position!)
    }
    forget.run(`-${KEEP_DAYS} days`)
  } catch (error) {
    print(`failed, again in ${RETRY_MS / 1_000} s: ${error}`)
    setTimeout(work, RETRY_MS)
  } finally {
    working = false
  }
}

const { ALDIS_URL: baseUrl, ALDIS_TOKEN: token, ALDIS_PLAN: servicePlanId } = process.env

/** Takes from the feed what is behind the cursor of last time, and goes on doing so. */
async function catchUp(): Promise<void> {
  if (baseUrl === undefined || token === undefined || servicePlanId === undefined) return
  try {
    const client = new AldisClient({ baseUrl, token })
    const cursor = readCursor.get(servicePlanId)?.cursor
    // The first time there is nothing that was missed.
    const from = cursor === undefined ? { since: new Date().toISOString() } : { cursor: String(cursor) }
    for await (const page of client.pages('listEvents', { servicePlanId, ...from })) {
      if (page.gap) print('caught up too late: events between are kept no more')
      const found = keep(page.items, page.cursor, servicePlanId)
      if (found > 0) print(`caught up ${found}`)
      void work()
    }
  } catch (error) {
    print(`not caught up: ${error}`)
  }
  setTimeout(catchUp, CATCH_UP_MS)
}

/** Writes down a page of the feed and where it goes on, both or nothing; gives how many events were new. */
function keep(page: readonly FeedEvent[], cursor: string, plan: string): number {
  let found = 0
  events.exec('begin immediate')
  try {
    for (const event of page) found += Number(insert.run(event.eventId, JSON.stringify(event)).changes)
    writeCursor.run(plan, cursor)
    events.exec('commit')
    return found
  } catch (error) {
    events.exec('rollback')
    throw error
  }
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const server = createServer((request, response) => {
  receive(request, response).catch((error) => {
    // A broken connection, or a full disk: whoever sent it tries again.
    print(`not taken: ${error}`)
    if (!response.headersSent) answer(response, 500)
  })
})
server.requestTimeout = 15_000
server.listen(Number(flags.port), () => {
  print(`Listening on http://localhost:${(server.address() as AddressInfo).port}`)
  void work()
  void catchUp()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit())
    server.closeIdleConnections()
  })
}
