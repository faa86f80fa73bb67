import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { printAnswer, printJson } from './admin/printing.ts'
import type { Access } from './sending/send-attempts.ts'
import type { FileFlags } from './sending/send-file.ts'

interface Flags extends Omit<FileFlags, 'csv'> {
  readonly url: string
  readonly token?: string
  readonly to?: string
  readonly idempotencyKey?: string
  readonly csv?: string
}

const MOST_IN_FLIGHT = 256
const MOST_PER_SECOND = 100_000
/** How long one message is retried when the service cannot be reached. */
const PATIENCE_MS = 30_000

const EXAMPLES = `
Examples:
  aldis send --from Example --to +15551230001 --text 'Your code is 123456'
  aldis send --from Example --csv numbers.csv --text 'Hello {name}' --dry-run
  aldis send --from Example --csv numbers.csv --text 'Hello {name}' --rate 50
  aldis send --from Example --csv numbers.csv --text 'Hello {name}' --rate 50 --resume

docs/sending.md explains the file, its results, and what is never sent twice.`

/** Adds `aldis send`. */
export function register(program: Command): void {
  const command = program
    .command('send')
    .description('Send a message, or one for each line of a CSV file')
    .addOption(
      new Option('--url <url>', 'Address of the service').env('ALDIS_URL').default('http://localhost:8080'),
    )
    .addOption(new Option('--token <token>', 'Token with the scope send').env('ALDIS_TOKEN'))
    .addOption(new Option('--plan <id>', 'Service plan to send with').env('ALDIS_PLAN').makeOptionMandatory())
    .requiredOption('--from <sender>', 'Short code, E.164 number or alphanumeric sender')
    .option('--to <number>', 'E.164 number')
    .option('--text <text>', 'Text; with --csv, {name} is the value of the column name, and {{ a brace')
    .option('--callback-url <url>', 'URL for delivery receipts')
    .option(
      '--idempotency-key <key>',
      'Send the message only once, however often the command is repeated within 24 h',
      idempotencyKey,
    )
    .option('--json', 'Print JSON for programs; with --csv, one object a line')
  addFileOptions(command)
  command.addHelpText('after', EXAMPLES).action(send)
}

function addFileOptions(command: Command): void {
  command
    .option(
      '--csv <file>',
      'Send one message for each line; needs a column to, and text or the columns that --text names; - is standard input',
    )
    .option('--dry-run', 'With --csv: check all lines and count segments; send nothing')
    .option('--rate <number>', 'With --csv: messages a second; default: as many as are accepted', perSecond)
    .option('--in-flight <number>', 'With --csv: most requests at a time', inFlight, 32)
    .option('--results <file>', 'With --csv: where to write results; default: numbers.results.csv')
    .option('--resume', 'With --csv: continue the run that wrote the results')
    .option('--retry-refused', 'With --resume: send refused lines again')
    .option(
      '--campaign <name>',
      'With --csv: another name sends the same lines again; default: name of the file',
    )
    .option('--allow-repeats', 'With --resume: send again what a run of more than 23 h ago may have sent')
}

async function send(flags: Flags): Promise<void> {
  const access = { url: flags.url, token: tokenOf(flags.token) }
  if (flags.csv === undefined) return await sendOne(access, flags)
  for (const name of ['to', 'idempotencyKey'] as const)
    if (flags[name] !== undefined)
      throw new Error('--to and --idempotency-key are for one message, without --csv')
  const { sendFile } = await import('./sending/send-file.ts')
  await sendFile(access, { ...flags, csv: flags.csv })
}

function tokenOf(token: string | undefined): string {
  if (token === undefined || token === '')
    throw new Error('a token is needed: set ALDIS_TOKEN or use --token')
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('the token has invalid characters')
  return token
}

/** Repeats the request until it is answered, so that a lost connection neither loses nor doubles the message. */
async function sendOne(access: Access, flags: Flags): Promise<void> {
  const { plan, from, to, text, callbackUrl, idempotencyKey = randomUUID() } = flags
  if (to === undefined || text === undefined) throw new Error('give --to and --text, or --csv')
  const sms = {
    servicePlanId: plan,
    channel: 'SMS',
    from,
    to,
    body: text,
    ...(callbackUrl && { callbackUrl }),
  } as const
  const { deliver } = await import('./sending/send-attempts.ts')
  const { Pacer } = await import('./sending/send-attempts.ts')
  const { signal } = new AbortController()
  const pacer = new Pacer(undefined)
  const answer = await deliver({ access, sms, key: idempotencyKey, pacer, patienceMs: PATIENCE_MS, signal })
  if (answer.kind === 'unanswered')
    throw new Error(
      answer.mayBeAccepted
        ? `${answer.reason}. The message may have been sent: repeat it with --idempotency-key ${idempotencyKey}`
        : `${answer.reason}. The message was not sent`,
    )
  if (answer.kind === 'refused') throw new Error(`${answer.errorCode}: ${answer.errorMessage}`)
  if (flags.json) printJson(answer.record)
  else printAnswer(answer.record, {})
}

/** The service would say so too, but the request cannot be made with any other key. */
function idempotencyKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  throw new InvalidArgumentError('expected 1 to 255 visible ASCII characters')
}

function perSecond(text: string): number {
  const value = Number(text)
  if (value > 0 && value <= MOST_PER_SECOND) return value
  throw new InvalidArgumentError(`expected a number up to ${MOST_PER_SECOND}`)
}

function inFlight(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= MOST_IN_FLIGHT) return value
  throw new InvalidArgumentError(`expected an integer from 1 to ${MOST_IN_FLIGHT}`)
}
