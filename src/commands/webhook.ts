import type { Command } from 'commander'
import { type ConnectionOptions, given, requestAdmin, segment } from './admin-client.ts'
import { type Column, type Fields, printFields, printJson, printTable } from './printing.ts'
import { addAction, addPageOptions, printList, requestAndPrint } from './resource.ts'

const EVENTS = '/webhook-events'
const DESTINATIONS = '/webhook-destinations'
const EVENT_COLUMNS: readonly Column[] = [
  ['OCCURRED', 'occurredAt'],
  ['EVENT', 'eventId'],
  ['STATUS', 'messageStatus'],
  ['STATE', 'state'],
  ['ATTEMPTS', 'attempts'],
  ['NEXT', 'nextAttemptAt'],
  ['ANSWER', 'responseStatus'],
  ['ERROR', 'error'],
  ['DESTINATION', 'destination'],
]
const ATTEMPT_COLUMNS: readonly Column[] = [
  ['AT', 'attemptedAt'],
  ['ATTEMPT', 'attempt'],
  ['MS', 'latencyMs'],
  ['ANSWER', 'responseStatus'],
  ['ERROR', 'error'],
  ['BODY', 'responseHead'],
]
const DESTINATION_COLUMNS: readonly Column[] = [
  ['DESTINATION', 'destination'],
  ['STATE', 'state'],
  ['SINCE', 'since'],
  ['PAUSED BY', 'pausedBy'],
  ['ERROR', 'error'],
  ['WAITING', 'waiting'],
  ['PARKED', 'parked'],
  ['FAILED', 'failed'],
]
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

interface PlanOptions extends ConnectionOptions {
  readonly plan: string
}

interface FilterOptions extends PlanOptions {
  readonly state?: string
  readonly msg?: string
  readonly destination?: string
  readonly from?: string
  readonly to?: string
}

interface TestOptions extends PlanOptions {
  readonly type?: string
  readonly to?: string
}

export function register(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('What customers are told by webhook: events, their attempts and destinations')
    .addHelpText('after', EXAMPLES)

  const list = addFilters(
    addAction(webhook, 'list', 'list the events of a service plan, newest message first'),
  )
    .option('--state <state>', 'pending, delivered, failed or kept (there was no URL)')
    .option('--msg <msgId>', 'of this message only')
  addPageOptions(list).action((options: FilterOptions) =>
    printList(options, EVENTS, EVENT_COLUMNS, filtersOf(options)),
  )

  addAction(webhook, 'show <eventId>', 'show an event and every attempt to deliver it').action(
    async (id: string, options: ConnectionOptions) =>
      printEvent(options, await requestAdmin(options, 'GET', `${EVENTS}/${segment(id)}`)),
  )
  addAction(
    webhook,
    'redeliver <eventId>',
    'deliver an event again, or now, under the id that it has',
  ).action(async (id: string, options: ConnectionOptions) =>
    printEvent(options, await requestAdmin(options, 'POST', `${EVENTS}/${segment(id)}/redeliver`)),
  )

  const failed = 'deliver all that failed, or with --state kept what had no URL'
  addFilters(addAction(webhook, 'redeliver-failed', failed))
    .option('--state <state>', 'failed or kept', 'failed')
    .option('--msg <msgId>', 'of this message only')
    .action(redeliverAll)

  addAction(
    webhook,
    'test',
    'send a signed test event at once, and show what came of it; exit code 1: not delivered',
  )
    .requiredOption('--plan <servicePlanId>', 'as if of this plan')
    .option('--type <type>', 'deliveryReceipt (the default) or inboundMessage')
    .option('--to <url>', 'to this URL; otherwise to where such events of the plan go')
    .action(sendTest)

  addDestinations(webhook)
}

function addDestinations(webhook: Command): void {
  const list = addAction(webhook, 'destinations', 'list destinations in trouble, or with deliveries waiting')
  addPageOptions(list.requiredOption('--plan <servicePlanId>', 'of this plan')).action(
    ({ plan, ...options }: PlanOptions) =>
      printList(options, DESTINATIONS, DESTINATION_COLUMNS, { servicePlanId: plan }),
  )
  for (const [verb, description] of [
    ['pause', 'send nothing more to a destination; its events wait'],
    ['resume', 'deliver to a destination again, whether it was paused or failed too often'],
  ] as const)
    addAction(webhook, verb, description)
      .requiredOption('--plan <servicePlanId>', 'of this plan')
      .requiredOption('--destination <origin>', 'scheme, host and port: https://hooks.example.com')
      .action(({ plan, destination, ...options }: FilterOptions) =>
        requestAndPrint(options, 'POST', `${DESTINATIONS}/${verb}`, { servicePlanId: plan, destination }),
      )
}

function addFilters(command: Command): Command {
  return command
    .requiredOption('--plan <servicePlanId>', 'of this plan')
    .option('--destination <origin>', 'scheme, host and port: https://hooks.example.com')
    .option('--from <time>', 'of messages from then on (RFC 3339), an inbound one when it came')
    .option('--to <time>', 'of messages until then')
}

function filtersOf({ plan, state, msg, destination, from, to }: FilterOptions): Record<string, unknown> {
  return { servicePlanId: plan, state, msgId: msg, destination, fromDate: from, toDate: to }
}

/** One request after the other: each takes a bounded part and says where the next begins. */
async function redeliverAll(options: FilterOptions): Promise<void> {
  let redelivered = 0
  let after: string | null = null
  do {
    const body = given({ ...filtersOf(options), after: after ?? undefined })
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

async function sendTest({ plan, type, to, ...options }: TestOptions): Promise<void> {
  const body = given({ servicePlanId: plan, type, url: to })
  const answer = (await requestAdmin(options, 'POST', '/webhook-tests', body)) as Fields
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
