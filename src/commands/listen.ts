import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Webhook } from 'standardwebhooks'
import { explainListen, LISTEN_PORT, onStopSignal, port } from './running.ts'
import { describeWebhook, type Signature } from './webhook-lines.ts'

interface Flags {
  readonly port: number
  readonly json?: true
  readonly secret?: Webhook
}

/** The name itself may stand for either address; ::1 is missing on some machines. */
const HOSTS = ['127.0.0.1', '::1'] as const
/** Far above any webhook of ours. */
const MAX_BODY_BYTES = 1024 * 1024
const REQUEST_TIMEOUT_MS = 15_000

const EXAMPLES = `
Examples:
  aldis listen
  aldis listen --port 9100 --secret whsec_…   refuses what is not signed with it`

/** Adds `aldis listen`: a receiver on this machine that prints every webhook, until SIGTERM or SIGINT. */
export function register(program: Command): void {
  program
    .command('listen')
    .description('Receive webhooks on this machine and print a line for each, to see what a receiver gets')
    .addOption(
      new Option('--port <number>', 'Port to listen on, 0 for any free one')
        .env('ALDIS_LISTEN_PORT')
        .default(LISTEN_PORT)
        .argParser(port),
    )
    .option('--json', 'Print JSON for programs, one object a line')
    .option(
      '--secret <whsec>',
      'Webhook secret of the account; unsigned requests are answered 401',
      webhookSecret,
    )
    .addHelpText('after', EXAMPLES)
    .action(listen)
}

async function listen(flags: Flags): Promise<void> {
  const stopped = new AbortController()
  onStopSignal(() => stopped.abort())
  const server = createServer((request, response) => void receive(request, response, flags))
  const bound = await bind(server, HOSTS[0], flags.port)
  const servers = [server, ...(await alsoOnIpv6(server, bound))]
  const print = flags.json ? (text: string) => process.stderr.write(text) : say
  print(`Listening on http://localhost:${bound} (any path). Ctrl-C ends it.\n`)
  if (!stopped.signal.aborted) await once(stopped.signal, 'abort')
  for (const each of servers) {
    each.close()
    each.closeAllConnections()
  }
}

async function bind(server: Server, host: string, wanted: number): Promise<number> {
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.listen(wanted, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explainListen(error, { host, port: wanted, portSetting: '--port' })
  }
  return (server.address() as AddressInfo).port
}

/** The same service on ::1, for clients that try only the first address of `localhost`. */
async function alsoOnIpv6(main: Server, mainPort: number): Promise<Server[]> {
  const server = createServer((request, response) => void main.emit('request', request, response))
  const bound = await bind(server, HOSTS[1], mainPort).catch(() => null)
  return bound === null ? [] : [server]
}

async function receive(request: IncomingMessage, response: ServerResponse, flags: Flags): Promise<void> {
  const body = await bodyOf(request)
  if (body === null) {
    answer(response, 413, { connection: 'close' })
    return
  }
  const signature = judge(request, body, flags.secret)
  const accepted = signature !== 'wrong' && signature !== 'missing'
  const path = request.url ?? '/'
  say(describeWebhook({ at: new Date(), path, body, signature }, flags.json ?? false))
  answer(response, accepted ? 200 : 401)
}

/** Null when it is too long or was cut off. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > MAX_BODY_BYTES) return null
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch {
    return null
  }
}

function judge(request: IncomingMessage, body: string, secret: Webhook | undefined): Signature {
  if (secret === undefined) return 'unchecked'
  const headers = request.headers as Record<string, string>
  if (headers['webhook-signature'] === undefined) return 'missing'
  try {
    secret.verify(body, headers, { jsonParse: false })
    return 'valid'
  } catch {
    return 'wrong'
  }
}

function answer(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ ok: status === 200 }))
}

function say(text: string): void {
  process.stdout.write(text)
}

function webhookSecret(text: string): Webhook {
  try {
    if (text.startsWith('whsec_')) return new Webhook(text)
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('expected a webhook secret: whsec_ and base64')
}
