import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin, segment } from './admin-client.ts'
import { type Fields, printFields, printJson, printTable } from './printing.ts'
import { addAction, addList, requestAndPrint } from './resource.ts'
import { addSettings, fieldsOf, type Setting } from './settings.ts'

const EVENTS = '/webhook-events'
const DESTINATIONS = '/webhook-destinations'
const EVENT_COLUMNS = {
  OCCURRED: 'occurredAt',
  EVENT: 'eventId',
  STATUS: 'messageStatus',
  STATE: 'state',
  ATTEMPTS: 'attempts',
  NEXT: 'nextAttemptAt',
  ANSWER: 'responseStatus',
  ERROR: 'error',
  DESTINATION: 'destination',
}
const ATTEMPT_COLUMNS = {
  AT: 'attemptedAt',
  ATTEMPT: 'attempt',
  MS: 'latencyMs',
  ANSWER: 'responseStatus',
  ERROR: 'error',
  BODY: 'responseHead',
}
const DESTINATION_COLUMNS = {
  DESTINATION: 'destination',
  STATE: 'state',
  SINCE: 'since',
  'PAUSED BY': 'pausedBy',
  ERROR: 'error',
  WAITING: 'waiting',
  PARKED: 'parked',
  FAILED: 'failed',
}
const EXAMPLES = `
Examples:
  aldis webhook list --plan 65a1c0ffee0123456789abcd --state failed
  aldis webhook show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b-2
  aldis webhook redeliver 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b-2
  aldis webhook redeliver-failed --plan 65a1c0ffee0123456789abcd --from 2026-11-20T08:00:00Z
  aldis webhook test --plan 65a1c0ffee0123456789abcd
  aldis webhook destinations --plan 65a1c0ffee0123456789abcd
  aldis webhook pause --plan 65a1c0ffee0123456789abcd --destination https://hooks.example.com

An event is a change of a message's status, or an inbound message: its id is that of the message, a dash and a number.`

const PLAN: Setting = ['servicePlanId', '--plan <servicePlanId>', 'of this plan', 'required']
const ORIGIN = [
  'destination',
  '--destination <origin>',
  'scheme, host and port: https://hooks.example.com',
] as const
const FILTERS: readonly Setting[] = [
  PLAN,
  ORIGIN,
  ['fromDate', '--from <time>', 'of messages accepted, or received, at or after this time (RFC 3339)'],
  ['toDate', '--to <time>', 'of messages until this time'],
  ['msgId', '--msg <msgId>', 'of this message only'],
]

const TEST: readonly Setting[] = [
  ['servicePlanId', '--plan <servicePlanId>', 'as if of this plan', 'required'],
  ['type', '--type <type>', 'deliveryReceipt (the default) or inboundMessage'],
  ['url', '--to <url>', 'to this URL (default: the URL for such events of the plan)'],
]

export function register(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('Webhooks: events, their attempts and destinations')
    .addHelpText('after', EXAMPLES)

  addList(webhook, {
    path: EVENTS,
    description: 'list the events of a service plan, newest message first',
    columns: EVENT_COLUMNS,
    filters: [
      ...FILTERS,
      ['state', '--state <state>', 'pending, delivered, failed or kept (there was no URL)'],
    ],
  })

  addAction(webhook, 'show <eventId>', 'show an event with every attempt to deliver it').action(
    async (id: string, options: ConnectionOptions) =>
      printEvent(options, await requestAdmin(options, 'GET', `${EVENTS}/${segment(id)}`)),
  )
  addAction(
    webhook,
    'redeliver <eventId>',
    'deliver an event again, or now if it waits; it keeps its id',
  ).action(async (id: string, options: ConnectionOptions) =>
    printEvent(options, await requestAdmin(options, 'POST', `${EVENTS}/${segment(id)}/redeliver`)),
  )

  const failed = 'deliver all failed events, or with --state kept those that had no URL'
  addSettings(addAction(webhook, 'redeliver-failed', failed), FILTERS)
    .option('--state <state>', 'failed or kept', 'failed')
    .action(redeliverAll)

  const test = 'send a signed test event at once and show the result; exit code 1: not delivered'
  addSettings(addAction(webhook, 'test', test), TEST).action(sendTest)

  addDestinations(webhook)
}

function addDestinations(webhook: Command): void {
  addList(webhook, {
    word: 'destinations',
    path: DESTINATIONS,
    description: 'list destinations that are in trouble or have waiting deliveries',
    columns: DESTINATION_COLUMNS,
    filters: [PLAN],
  })
  const settings = [PLAN, [...ORIGIN, 'required']] as const satisfies readonly Setting[]
  for (const [verb, description] of [
    ['pause', 'send nothing more to a destination; its events wait'],
    ['resume', 'deliver to a destination again after it was paused or failed too often'],
  ] as const)
    addSettings(addAction(webhook, verb, description), settings).action((options: ConnectionOptions) =>
      requestAndPrint(options, 'POST', `${DESTINATIONS}/${verb}`, fieldsOf(settings, options)),
    )
}

/** One request after the other: each takes a bounded part and says where the next begins. */
async function redeliverAll(options: ConnectionOptions & { readonly state: string }): Promise<void> {
  const chosen = { ...fieldsOf(FILTERS, options), state: options.state }
  let redelivered = 0
  let after: string | null = null
  do {
    const body = { ...chosen, ...(after !== null && { after }) }
    const answer = (await requestAdmin(options, 'POST', '/webhook-redeliveries', body)) as {
      redelivered: number
      nextAfter: string | null
    }
    redelivered += answer.redelivered
    after = answer.nextAfter
    if (after !== null) process.stderr.write(`${redelivered} to be delivered again so far\n`)
  } while (after !== null)
  if (options.json) printJson({ redelivered })
  else process.stdout.write(`${redelivered} to be delivered again\n`)
}

async function sendTest(options: ConnectionOptions): Promise<void> {
  const answer = (await requestAdmin(options, 'POST', '/webhook-tests', fieldsOf(TEST, options))) as Fields
  if (options.json) printJson(answer)
  else printFields(answer)
  if (answer.delivered !== true) process.exitCode = 1
}

function printEvent({ json }: ConnectionOptions, answer: unknown): void {
  const { attemptRecords, ...event } = answer as Fields & { attemptRecords: readonly Fields[] }
  if (json) printJson(answer)
  else printFields(event)
  if (json || attemptRecords.length === 0) return
  process.stdout.write('\n')
  printTable(attemptRecords, ATTEMPT_COLUMNS)
}
