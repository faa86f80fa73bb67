import { setTimeout as sleep } from 'node:timers/promises'
import { AdminRefusal } from './client.ts'
import { NOUNS } from './nouns.ts'
import { type Fields, printJson, shownText, Table } from './printing.ts'
import { type Call, type Part, parts, request } from './requests.ts'

/** Commands that need many requests, or do more with an answer than print it. */
export const ACTS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  redeliverWebhookEventsOfPlan: redeliverAll,
  resealSecrets: reseal,
}

/** Lists that can be followed with `--follow`. */
export const FOLLOWED: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  listMessagesOfPlans: followMessages,
}

async function redeliverAll(call: Call): Promise<void> {
  const done = call.body?.dryRun === true ? 'would be delivered again' : 'to be delivered again'
  let redelivered = 0
  for await (const { nextAfter, redelivered: more } of parts<Part & { redelivered: number }>(call)) {
    redelivered += more
    if (nextAfter !== null)
      process.stderr.write(`${redelivered} ${done}; continues with --after ${nextAfter}\n`)
  }
  if (call.options.json) printJson({ redelivered })
  else process.stdout.write(`${redelivered} ${done}\n`)
}

interface Progress extends Part {
  readonly resealed: number
  readonly unreadable: number
  readonly pending: number
  readonly scanned: number
  readonly keyId: string
}

/** Seals everything with the present SECRET_KEY, one bounded part after the other. */
async function reseal(call: Call): Promise<void> {
  const { json } = call.options
  const sum = { resealed: 0, unreadable: 0, pending: 0, scanned: 0 }
  let keyId: string | undefined
  for await (const done of parts<Progress>(call)) {
    keyId ??= done.keyId
    if (done.keyId !== keyId) {
      throw new Error(
        `nodes use different keys (${keyId}, ${done.keyId}): give all nodes the same SECRET_KEY, then repeat this`,
      )
    }
    sum.resealed += done.resealed
    sum.unreadable += done.unreadable
    sum.pending += done.pending
    sum.scanned += done.scanned
    if (!json && done.nextAfter !== null) {
      process.stderr.write(
        `${sum.scanned} messages, ${sum.resealed} resealed; continues with --after ${done.nextAfter}\n`,
      )
    }
  }
  if (json) printJson(sum)
  else process.stdout.write(`${sum.resealed} secrets resealed, ${sum.scanned} messages looked at.\n`)
  const faults: string[] = []
  if (sum.unreadable > 0) faults.push(`${sum.unreadable} secrets are opened by neither key`)
  if (sum.pending > 0) faults.push(`${sum.pending} secrets kept changing and have the old key: repeat this`)
  if (faults.length > 0) throw new Error(faults.join('; '))
}

// `aldis message list --follow`: the newest messages, and then each new one and each change of a status.

interface Listed extends Fields {
  readonly msgId: string
  readonly status: string
  readonly errorCode: string
  readonly createdAt: string
}

interface Page extends Part {
  readonly items: readonly Listed[]
}

/** Shown at the start, unless --limit says otherwise. */
const FIRST = 10
/** Only changes of the newest are noticed. */
const MOST_FOLLOWED = 1_000
const PAGE = 200
const LEAST_INTERVAL_MS = 1_000
const MOST_INTERVAL_MS = 30_000
/** Of the time, the service spends at most a tenth on this. */
const REST = 9
/** A message of another node may appear in lists after messages that are younger. */
const LATE_MS = 30_000
const OPEN = new Set(['QUEUED', 'SENT'])

async function followMessages(call: Call): Promise<void> {
  // A message that changes gets the wanted status later, so these are compared here.
  const { limit = FIRST, status, errorCode, after: _, ...query } = call.query
  const wanted = (message: Listed) =>
    (status === undefined || message.status === String(status).toUpperCase()) &&
    (errorCode === undefined || message.errorCode === errorCode)
  const followed = new FollowedMessages({ ...call, query: { ...query, limit: PAGE } })
  const print = call.options.json ? printLines : printRows()
  const first = await followed.readChanged()
  print(first.filter(wanted).slice(-Number(limit)))
  for (let pauseMs = LEAST_INTERVAL_MS; process.stdout.writable; ) {
    await sleep(pauseMs)
    const startMs = performance.now()
    try {
      print((await followed.readChanged()).filter(wanted))
      pauseMs = Math.max(LEAST_INTERVAL_MS, REST * (performance.now() - startMs))
    } catch (error) {
      if (error instanceof AdminRefusal && error.status < 500) throw error
      process.stderr.write(`${(error as Error).message}\n`)
      pauseMs = Math.min(2 * pauseMs, MOST_INTERVAL_MS)
    }
  }
}

class FollowedMessages {
  readonly #call: Call
  #known = new Map<string, Listed>()
  /** Messages that were created before are not looked at again. */
  #floor = ''

  constructor(call: Call) {
    this.#call = call
  }

  /** Messages that are new or have another status than before, in the order of their creation. */
  async readChanged(): Promise<Listed[]> {
    const newest = await this.#newest()
    const changed = newest.filter(({ msgId, status }) => this.#known.get(msgId)?.status !== status)
    if (changed.length === MOST_FOLLOWED && this.#known.size > 0)
      process.stderr.write(`more than ${MOST_FOLLOWED} new messages at once: some are not shown\n`)
    this.#known = new Map(newest.map((message) => [message.msgId, message]))
    const late = newest.length === 0 ? '' : new Date(Date.parse(newest[0]!.createdAt) - LATE_MS).toISOString()
    const open = newest.findLast(({ status }) => OPEN.has(status))?.createdAt ?? late
    const floor = open < late ? open : late
    if (floor > this.#floor) this.#floor = floor
    return changed.reverse()
  }

  /** Newest first. */
  async #newest(): Promise<Listed[]> {
    const found: Listed[] = []
    for (let after: string | null = null; found.length < MOST_FOLLOWED; ) {
      const page: Page = await request<Page>(this.#call, after === null ? {} : { after })
      found.push(...page.items)
      const isBelow = (page.items.at(-1)?.createdAt ?? '') < this.#floor
      if (page.nextAfter === null || (isBelow && page.items.length > 0)) break
      after = page.nextAfter
    }
    return found.filter(({ createdAt }) => createdAt >= this.#floor).slice(0, MOST_FOLLOWED)
  }
}

function printRows(): (messages: readonly Listed[]) => void {
  const table = new Table(String(NOUNS.message?.columns).replace('createdAt', 'updatedAt'))
  return (messages) => table.print(messages)
}

function printLines(messages: readonly Listed[]): void {
  for (const message of messages) process.stdout.write(`${shownText(JSON.stringify(message))}\n`)
}
