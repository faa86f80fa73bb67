/** The customer's view of the service: what a plan's token can read, from any node. */
import { holdsWithin, nowMs } from './clock.ts'

export interface Plan {
  readonly index: number
  readonly servicePlanId: string
  readonly token: string
  /** Of the account. */
  readonly defaultUrl: string | null
  /** Of every other message, where there is one. */
  readonly callbackUrl: string | null
  readonly keepsDoubtful: boolean
}

const TIMEOUT_MS = 20_000
/** How long a read that is refused or not answered is repeated. */
const PERSISTENCE_MS = 60_000

export interface Read {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  readonly json: any
}

export async function read(
  baseUrl: string,
  { token, servicePlanId }: Plan,
  path: string,
  query: Record<string, string> = {},
): Promise<Read> {
  const parameters = new URLSearchParams({ servicePlanId, ...query })
  const response = await fetch(`${baseUrl}${path}?${parameters}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return { status: response.status, json: await response.json() }
}

/** Repeats a read until it is answered 200, from the nodes in turn. @throws Error when no node answers for a minute. */
export async function readSurely(
  nodes: readonly string[],
  plan: Plan,
  path: string,
  query: Record<string, string>,
): Promise<Read> {
  let turn = Math.floor(nowMs())
  let answer: Read | null = null
  const isRead = await holdsWithin(PERSISTENCE_MS, async () => {
    answer = await read(nodes[turn++ % nodes.length]!, plan, path, query)
    return answer.status === 200
  })
  if (!isRead) throw new Error(`GET ${path}: ${JSON.stringify(answer)}`)
  return answer!
}

/** Reads every item of a list, each page from another node. */
export async function listAll<Item>(
  nodes: readonly string[],
  plan: Plan,
  path: string,
  query: Record<string, string>,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const page: Read = await readSurely(nodes, plan, path, {
      limit: '100',
      ...query,
      ...(cursor === null ? {} : { cursor }),
    })
    items.push(...page.json.items)
    cursor = page.json.pagination.nextCursor
  } while (cursor !== null)
  return items
}
