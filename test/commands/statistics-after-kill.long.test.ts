import { expect, test } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { createdAtMs } from '../../src/domain/identifiers.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { lookUp, provision, type Ready, type Served, send, startServe } from '../support/process.ts'

/** The short form is store/statistics.test.ts: a process has rows of its own, and one written again replaces itself. */

const { db, connectionString } = await databaseOfFile({ state: 'started' })
const CUSTOMERS = 4
/** What docs/statistics.md promises of a crash. */
const MOST_LOST_MS = 10_000

interface Counts {
  readonly accepted: number
  readonly sent: number
  readonly delivered: number
}

/** What the processes have written so far, of all plans. */
async function written(): Promise<Counts> {
  const { rows } = await db.query<Counts>(`
    select coalesce(sum(accepted), 0)::integer as accepted, coalesce(sum(sent), 0)::integer as sent,
           coalesce(sum(delivered), 0)::integer as delivered
    from statistics where plan_id = 0 and step_s = 60`)
  return rows[0]!
}

/** What became of the messages, by their records. */
async function recorded(): Promise<Counts> {
  const { rows } = await db.query<Counts>(`
    select count(*)::integer as accepted, count(sent_at)::integer as sent,
           (count(*) filter (where status = 'DELIVERED'))::integer as delivered
    from messages`)
  return rows[0]!
}

/** A customer who sends a message when the one before is delivered, until the service is gone. */
async function keepSending(access: Ready, accepted: string[], count = Number.POSITIVE_INFINITY) {
  for (let sent = 0; sent < count; sent += 1) {
    const answer = await send(access).catch(() => null)
    if (answer === null) return
    expect(answer.status).toBe(202)
    accepted.push(answer.json.msgId)
    const isOver = await eventually(async () => {
      const found = await lookUp(access, answer.json.msgId).catch(() => null)
      return found === null ? 'gone' : found.json.status === 'DELIVERED' && 'delivered'
    })
    if (isOver === 'gone') return
  }
}

async function statisticsOf({ baseUrl, operatorToken }: Served) {
  const connection = { url: baseUrl, operatorToken }
  return (await requestAdmin(connection, 'GET', '/statistics')) as {
    completeUntil: string
    series: { totals: Counts }[]
  }
}

test('kill -9 under load loses the newest statistics only, and nothing is counted twice', async () => {
  const simulator = await startSimulator({ port: 0, receiptDelayMs: 20 })
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => simulator.stop())
  const env = { DATABASE_URL: connectionString, NODE_ID: 'killed' }
  const first = cleanup.use(await startServe(env))
  const access = await provision(first, simulator.port)
  const accepted: string[] = []
  const customers = Array.from({ length: CUSTOMERS }, () => keepSending(access, accepted))
  await eventually(async () => (await written()).delivered > 0)
  const before = accepted.length
  await eventually(() => accepted.length > before + 20)
  const killedAtMs = Date.now()
  first.running.kill('SIGKILL')
  await first.running.exited
  await Promise.all(customers)
  const left = await written()

  // It takes over what the killed process had in progress.
  const second = cleanup.use(await startServe(env))
  const restarted: Ready = { ...access, baseUrl: second.baseUrl }
  const { completeUntil, series } = await statisticsOf(second)
  const settled = accepted.filter((msgId) => createdAtMs(msgId) < Date.parse(completeUntil))
  expect(series[0]!.totals.accepted).toBeGreaterThanOrEqual(settled.length)
  const more: string[] = []
  await keepSending(restarted, more, 10)
  second.running.kill('SIGTERM')
  expect(await second.running.exited).toMatchObject({ code: 0 })

  const [counted, are] = [await written(), await recorded()]
  // A message that was committed as its sender was cut off was not answered.
  expect(are.accepted).toBeGreaterThanOrEqual(accepted.length + more.length)
  expect(counted.accepted).toBeLessThanOrEqual(left.accepted + more.length + are.accepted - accepted.length)
  for (const count of ['accepted', 'sent', 'delivered'] as const) {
    expect(counted[count]).toBeGreaterThanOrEqual(left[count] + more.length)
    expect(counted[count]).toBeLessThanOrEqual(are[count])
  }
  const lost = accepted
    .map(createdAtMs)
    .sort((a, b) => a - b)
    .slice(left.accepted)
  for (const atMs of lost) expect(killedAtMs - atMs).toBeLessThan(MOST_LOST_MS)
})
