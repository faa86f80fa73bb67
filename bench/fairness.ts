import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { requestAdmin } from '../src/commands/admin/client.ts'
import { openDatabase } from './aldis/database.ts'
import { startNode } from './aldis/node.ts'
import { addCustomer, type Customer, setUp } from './aldis/setup.ts'
import { percentiles } from './percentiles.ts'
import { Rig } from './rig.ts'

/**
 * `npm run fairness`: one plan has a million messages waiting for a slow carrier; how long does a message of another plan
 * wait for the same carrier? Exit code 1 when one waits a second or longer.
 */

const HELP = `Measures how long a plan's message waits behind another plan's backlog at one carrier.

Usage: npm run fairness -- [options]

  --backlog N      messages of the other plan that wait (1000000)
  --rate N         messages per second of the carrier (50)
  --messages N     messages sent meanwhile, one a second (60)
  --help
`
const INSERT_AT_ONCE = 100_000
const MOST_MS = 1_000
const POLL_MS = 10
const EVERY_MS = 1_000

const { values } = parseArgs({
  options: {
    backlog: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '50' },
    messages: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(HELP)
else process.exitCode = await measure(Number(values.backlog), Number(values.rate), Number(values.messages))

async function measure(backlog: number, rate: number, messages: number): Promise<number> {
  const rig = new Rig(null)
  try {
    return await Promise.race([measureWith(rig, backlog, rate, messages), rig.fault])
  } finally {
    await rig.close()
  }
}

async function measureWith(rig: Rig, backlog: number, rate: number, messages: number): Promise<number> {
  const operatorToken = randomBytes(24).toString('base64url')
  // Uses the carrier for Node: the one in C needs the number of each message.
  const tools = await rig.tools({ without: 'messages have no numbers' })
  const carrier = await tools.carrier({
    receiptDelayMs: [50, 300],
    deliverWindow: 100,
    receiptsOutstanding: 0,
    throughput: null,
  })
  const { url, databaseUrl } = await startNode(rig, { nodeName: 'bench', operatorToken, databaseUrl: null })
  const connection = { url, operatorToken }
  const busy = await setUp(connection, { port: carrier.port, window: 10 })
  const quiet = await addCustomer(connection)
  await requestAdmin(connection, 'PATCH', '/carriers/simulator', { messagesPerSecond: rate })
  const db = await openDatabase(databaseUrl)
  rig.resources.defer(() => db.end())
  for (let left = backlog; left > 0; left -= INSERT_AT_ONCE) {
    await addBacklog(db, busy, Math.min(left, INSERT_AT_ONCE))
    process.stderr.write(`${backlog - left + Math.min(left, INSERT_AT_ONCE)} messages wait\n`)
  }

  const before = await carrier.stats()
  const startMs = performance.now()
  const waits: number[] = []
  for (let n = 0; n < messages; n += 1) {
    waits.push(await waitOf(url, quiet, n))
    await pause(startMs + (n + 1) * EVERY_MS - performance.now())
  }
  const perSecond =
    ((await carrier.stats()).accepted - before.accepted) / ((performance.now() - startMs) / 1_000)
  const { p50, p99, max } = percentiles(waits)
  process.stdout.write(
    `${backlog} messages of one plan wait for a carrier of ${rate}/s (used: ${perSecond.toFixed(1)}/s)\n` +
      `${messages} messages of another plan, accept to SENT: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, most ${max.toFixed(0)} ms\n`,
  )
  return max < MOST_MS ? 0 : 1
}

/** Inserts messages as if accepted by a node that could not send them. */
async function addBacklog(db: pg.Client, { servicePlanId, sender }: Customer, count: number): Promise<void> {
  await db.query(
    `with plan as (
       select id, route_id from service_plans where service_plan_id = $1
     ), stored as (
       insert into messages (plan_id, msg_id, sender, recipient, body, segments, updated_at)
       select plan.id, uuidv7(), $2, '+1555' || lpad((n % 10000000)::text, 7, '0'), 'backlog', 1, now()
       from plan, generate_series(1, $3::integer) n
       returning plan_id, msg_id
     )
     insert into dispatches (bucket, msg_id, plan_id, route_id, due_at, expires_at)
     select get_byte(uuid_send(msg_id), 15), msg_id, plan_id, plan.route_id, now(), now() + interval '1 day'
     from stored, plan`,
    [servicePlanId, sender, count],
  )
}

/** Milliseconds from createdAt to sentAt of one message. */
async function waitOf(url: string, { servicePlanId, token, sender }: Customer, n: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = { servicePlanId, channel: 'SMS', from: sender, to: `+4479${10_000_000 + n}`, body: 'Hello' }
  const sent = await fetch(`${url}/v1/sendsms`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { msgId } = (await sent.json()) as { msgId: string }
  for (;;) {
    const answer = await fetch(`${url}/v1/messages/sms/${msgId}?servicePlanId=${servicePlanId}`, { headers })
    const { createdAt, sentAt } = (await answer.json()) as { createdAt: string; sentAt: string | null }
    if (sentAt !== null) return Date.parse(sentAt) - Date.parse(createdAt)
    await pause(POLL_MS)
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((wake) => setTimeout(wake, Math.max(0, ms)))
}
