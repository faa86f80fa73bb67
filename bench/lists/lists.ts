import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import { messageId } from '../../src/domain/identifiers.ts'
import type { Aldis } from '../aldis/aldis.ts'
import { totalMs } from '../end-to-end.ts'
import { type Percentiles, percentiles } from '../percentiles.ts'
import type { Progress } from '../progress.ts'
import { SeededRandom } from '../seeded-random.ts'
import { APART, VALUES } from './records.ts'

/** The list part: pages and look-ups of a plan with many messages, one request after the other, over HTTP. */

export interface ListFigure extends Percentiles {
  readonly what: string
  /** CPU of Aldis and PostgreSQL for a request. */
  readonly cpuMs: number
  /** The question with the highest 99th percentile, and that percentile. */
  readonly worst: string | null
}

interface Question {
  /** The group of questions whose figures are reported together. */
  readonly kind: string
  readonly filters: Readonly<Record<string, string>>
  /** Items on the first page; null: any number. */
  readonly items: number | null
}

interface Answer {
  readonly ms: number
  readonly body: { readonly items: { msgId: string }[]; pagination: { nextCursor: string | null } }
}

/** Figures of one question, asked repeatedly. */
interface Asked {
  readonly question: string
  readonly latencies: readonly number[]
  readonly cpuMs: number
}

type Filter = keyof typeof VALUES

const PAGE = 20
const ASKS = 30
const DEEP_PAGES = 1_000
const LOOK_UPS = 1_000
const DAY_MS = 86_400_000
/** The service allows an account 200 reads a second. */
const LEAST_APART_MS = 5.5

/** @throws (rejects) Error when an answer does not match the records that were made. */
export async function measureLists(
  subject: Pick<Aldis, 'port' | 'customer' | 'cpuMs'>,
  progress: Progress,
): Promise<ListFigure[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const client = new ListClient(subject, agent)
  try {
    progress.phase('first pages of lists')
    const first = await measureFirst(client, questions())
    progress.phase('lists, 1,000 pages deep')
    const { figures, ids } = await measureDeep(client)
    progress.phase('look-ups')
    return [...first, ...figures, ...(await measureLookUps(client, ids))]
  } finally {
    agent.destroy()
  }
}

/** Each filter and each pair of filters, with values that many, few or no messages have. */
function questions(): Question[] {
  const filters = Object.keys(VALUES) as Filter[]
  const amounts = ['many', 'few', 'none'] as const
  const itemsOf = { many: PAGE, few: PAGE, none: 0 }
  const one = filters.flatMap((filter) =>
    amounts.map((amount) => ({
      kind: `one filter, ${amount}`,
      filters: { [filter]: VALUES[filter][amount] },
      items: itemsOf[amount],
    })),
  )
  const two = filters.flatMap((filter, index) =>
    filters.slice(index + 1).flatMap((other) =>
      amounts.flatMap((amount) =>
        amounts.map((otherAmount) => ({
          kind: `two filters, ${amount === otherAmount ? `both ${amount}` : `${[amount, otherAmount].sort().join(' and ')}`}`,
          filters: { [filter]: VALUES[filter][amount], [other]: VALUES[other][otherAmount] },
          items: amount === 'none' || otherAmount === 'none' ? 0 : null,
        })),
      ),
    ),
  )
  const apart = APART.map((filters) => ({ kind: 'two filters, many each, none both', filters, items: 0 }))
  const toDate = new Date(Date.now() - DAY_MS / 4)
  const window = {
    fromDate: new Date(toDate.getTime() - 30 * DAY_MS).toISOString(),
    toDate: toDate.toISOString(),
  }
  const dated = one.map(({ kind, filters, items }) => ({
    kind: `a window of 30 days and ${kind}`,
    filters: { ...filters, ...window },
    items: items === 0 ? 0 : null,
  }))
  return [...one, ...two, ...apart, ...dated]
}

async function measureFirst(client: ListClient, asked: readonly Question[]): Promise<ListFigure[]> {
  const kinds = new Map<string, Asked[]>()
  for (const { kind, filters, items } of asked) {
    const own = await client.timed(textOf(filters), async (latencies) => {
      for (let ask = 0; ask < ASKS; ask += 1) {
        const { ms, body } = await client.list(filters)
        if (items !== null && body.items.length !== items)
          throw new Error(`${textOf(filters)}: ${body.items.length} items instead of ${items}`)
        latencies.push(ms)
      }
    })
    kinds.set(kind, [...(kinds.get(kind) ?? []), own])
  }
  return [...kinds].map(([kind, ofKind]) => figureOf(`first page: ${kind}`, ofKind))
}

/** Follows the cursors of frequent values. `ids` are of messages on these pages. */
async function measureDeep(client: ListClient): Promise<{ figures: ListFigure[]; ids: string[] }> {
  const onTheWay: Asked[] = []
  const deepest: Asked[] = []
  const ids: string[] = []
  for (const { kind, filters } of questions()) {
    if (kind !== 'one filter, many' && kind !== 'two filters, both many') continue
    let cursor: string | null = null
    const walk = async (latencies: number[]) => {
      for (let page = 1; page < DEEP_PAGES; page += 1) {
        const answer: Answer = await client.list({ ...filters, ...(cursor === null ? {} : { cursor }) })
        latencies.push(answer.ms)
        cursor = answer.body.pagination.nextCursor
        if (page % 20 === 0) ids.push(...answer.body.items.slice(0, 5).map(({ msgId }) => msgId))
        if (cursor === null) break
      }
    }
    onTheWay.push(await client.timed(textOf(filters), walk))
    const last: Readonly<Record<string, string>> | null = cursor === null ? null : { ...filters, cursor }
    if (last === null) continue
    const askLast = async (latencies: number[]) => {
      for (let ask = 0; ask < ASKS; ask += 1) latencies.push((await client.list(last)).ms)
    }
    deepest.push(await client.timed(textOf(filters), askLast))
  }
  return {
    figures: [
      figureOf('pages 1 to 999 of what many have', onTheWay),
      figureOf('page 1,000 of what many have', deepest),
    ],
    ids,
  }
}

async function measureLookUps(client: ListClient, ids: readonly string[]): Promise<ListFigure[]> {
  const random = new SeededRandom(29)
  const ask = (what: string, idOf: () => string, status: number) =>
    client.timed(what, async (latencies) => {
      for (let n = 0; n < LOOK_UPS; n += 1) latencies.push(await client.lookUp(idOf(), status))
    })
  const unknown = () => messageId(Date.now() - random.below(DAY_MS), randomBytes(9), 0)
  const known = await ask('of these', () => random.pick(ids), 200)
  const others = await ask('of these', unknown, 404)
  return [figureOf('look-ups', [known]), figureOf('look-ups of unknown ids', [others])]
}

function figureOf(what: string, asked: readonly Asked[]): ListFigure {
  const latencies = asked.flatMap((one) => one.latencies)
  const ofEach = asked.map(({ question, latencies }) => ({ question, p99: percentiles(latencies).p99 }))
  const worst = ofEach.sort((a, b) => b.p99 - a.p99)[0]
  return {
    ...percentiles(latencies),
    what,
    cpuMs: asked.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / Math.max(1, latencies.length),
    worst: asked.length < 2 || worst === undefined ? null : `${worst.question} ${worst.p99.toFixed(1)} ms`,
  }
}

function textOf(filters: Readonly<Record<string, string>>): string {
  return Object.entries(filters)
    .filter(([name]) => !name.endsWith('Date'))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

class ListClient {
  readonly #subject: Pick<Aldis, 'port' | 'customer' | 'cpuMs'>
  readonly #agent: Agent
  #mayAskMs = 0

  constructor(subject: Pick<Aldis, 'port' | 'customer' | 'cpuMs'>, agent: Agent) {
    this.#subject = subject
    this.#agent = agent
  }

  /** `ask` adds the duration of each request. */
  async timed(question: string, ask: (latencies: number[]) => Promise<void>): Promise<Asked> {
    const latencies: number[] = []
    const before = totalMs(this.#subject.cpuMs())
    await ask(latencies)
    return { question, latencies, cpuMs: totalMs(this.#subject.cpuMs()) - before }
  }

  async list(filters: Readonly<Record<string, string>>): Promise<Answer> {
    const { servicePlanId } = this.#subject.customer
    const query = new URLSearchParams({ servicePlanId, limit: String(PAGE), ...filters })
    const { status, ms, text } = await this.#get(`/v1/messages/sms?${query}`)
    if (status !== 200) throw new Error(`${textOf(filters)}: answered ${status} ${text}`)
    return { ms, body: JSON.parse(text) }
  }

  async lookUp(msgId: string, expected: number): Promise<number> {
    const { status, ms } = await this.#get(`/v1/messages/${msgId}`)
    if (status !== expected) throw new Error(`the look-up of ${msgId}: answered ${status}`)
    return ms
  }

  async #get(path: string): Promise<{ status: number; ms: number; text: string }> {
    await new Promise((wake) => setTimeout(wake, Math.max(0, this.#mayAskMs - performance.now())))
    this.#mayAskMs = performance.now() + LEAST_APART_MS
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; ms: number; text: string }>()
    const startMs = performance.now()
    const options = {
      port: this.#subject.port,
      path,
      agent: this.#agent,
      headers: { authorization: `Bearer ${this.#subject.customer.token}` },
    }
    get(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - startMs, text }),
      )
    }).on('error', reject)
    return await promise
  }
}
