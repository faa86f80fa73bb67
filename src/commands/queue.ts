import type { Command } from 'commander'
import { addConnectionOptions, type ConnectionOptions, requestAdmin } from './admin-client.ts'
import { type Fields, printJson, printTable } from './printing.ts'

const EXAMPLES = `
Examples:
  aldis queue
  watch -n 10 aldis queue
  aldis queue --json`

const MESSAGE_COLUMNS = {
  MESSAGES: 'count',
  WHERE: 'place',
  ROUTE: 'route',
  CARRIER: 'carrier',
  WHY: 'cause',
  OLDEST: 'age',
}
const WEBHOOK_COLUMNS = { WEBHOOKS: 'count', WHY: 'cause', OLDEST: 'age' }
const DESTINATION_COLUMNS = {
  WEBHOOKS: 'count',
  STATE: 'state',
  PLAN: 'servicePlanId',
  DESTINATION: 'destination',
  SINCE: 'since',
  ERROR: 'error',
  OLDEST: 'age',
}

interface Waiting extends Fields {
  readonly oldestAt: string | null
}

interface QueueAnswer {
  readonly countedAt: string
  readonly messages: readonly Waiting[]
  readonly webhooks: readonly Waiting[]
  readonly destinations: readonly Waiting[]
  readonly truncated: { readonly messages: boolean; readonly webhooks: boolean }
}

export function register(program: Command): void {
  const queue = program
    .command('queue')
    .description('Show the backlog, by place, cause and age: messages, webhooks, destinations in trouble')
    .addHelpText('after', EXAMPLES)
  addConnectionOptions(queue).action(printQueue)
}

async function printQueue(options: ConnectionOptions): Promise<void> {
  const answer = (await requestAdmin(options, 'GET', '/queue')) as QueueAnswer
  if (options.json) return printJson(answer)
  const withAge = (row: Waiting) => ({ ...row, age: ageOf(row.oldestAt, answer.countedAt) })
  const tables = [
    [answer.messages, MESSAGE_COLUMNS],
    [answer.webhooks, WEBHOOK_COLUMNS],
    [answer.destinations, DESTINATION_COLUMNS],
  ] as const
  const filled = tables.filter(([rows]) => rows.length > 0)
  for (const [index, [rows, columns]] of filled.entries()) {
    if (index > 0) process.stdout.write('\n')
    printTable(rows.map(withAge), columns)
  }
  if (filled.length === 0) process.stdout.write('nothing waits\n')
  for (const what of ['messages', 'webhooks'] as const)
    if (answer.truncated[what]) process.stderr.write(`more ${what} wait than were counted\n`)
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** `3 h`, `12 min`, `5 s`; null where nothing waits. */
function ageOf(oldestAt: string | null, countedAt: string): string | null {
  if (oldestAt === null) return null
  const seconds = Math.max(0, Math.round((Date.parse(countedAt) - Date.parse(oldestAt)) / 1_000))
  const [unit, length] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['s', 1]
  return `${Math.floor(seconds / length)} ${unit}`
}
