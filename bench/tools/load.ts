import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { NO_ANSWER, serveParent, tellFault } from '../parent.ts'
import { type LoadEntry, ledgerLine, nowUs } from './ledgers.ts'
import { MESSAGE_LIMIT, requestsOf } from './requests.ts'

/**
 * The load generator without a C compiler. Arguments, commands and ledger are those of load.c. HTTP/1.1 on plain
 * sockets, because it shares the processors with what it measures (about 0.02 ms for each request; fetch takes 0.15).
 */

type Mode =
  | { readonly name: 'stopped' }
  | { readonly name: 'bounded'; readonly bound: number }
  | { readonly name: 'paced'; readonly startUs: number; readonly first: number; readonly perUs: number }

const ACCEPTED = 202

class Load {
  readonly #ports: readonly number[]
  readonly #request: (n: number) => string
  readonly #idle: LoadConnection[] = []
  readonly #entries: LoadEntry[] = []
  #mode: Mode = { name: 'stopped' }
  #sent = 0
  #answered = 0
  #accepted = 0
  #completed = 0
  #reopened = 0
  #timer: NodeJS.Timeout | null = null

  constructor(ports: readonly number[], request: (n: number) => string) {
    this.#ports = ports
    this.#request = request
  }

  async open(connections: number): Promise<void> {
    const opened = Array.from({ length: connections }, (_, index) =>
      LoadConnection.open(this.#ports[index % this.#ports.length]!, this),
    )
    this.#idle.push(...(await Promise.all(opened)))
  }

  run(mode: Mode): void {
    this.#mode = mode
    this.#sendDue()
  }

  get sent(): number {
    return this.#sent
  }

  /** Tells it that `total` messages have been completed so far. */
  completed(total: number): void {
    this.#completed = total
    this.#sendDue()
  }

  report() {
    return { sent: this.#sent, answered: this.#answered, accepted: this.#accepted, reopened: this.#reopened }
  }

  ledger(): string {
    const lines = this.#entries.map(({ number, dueUs, latencyUs, status, msgId }) =>
      ledgerLine([number, dueUs, latencyUs, status, msgId]),
    )
    return lines.join('')
  }

  onAnswer(connection: LoadConnection, number: number, dueUs: number, status: number, body: string): void {
    this.#answered += 1
    const at = body.indexOf('"msgId":"')
    const msgId = at < 0 ? null : body.slice(at + 9, at + 45)
    this.#entries[number] = { number, dueUs, latencyUs: nowUs() - dueUs, status, msgId }
    if (status === ACCEPTED) this.#accepted += 1
    else tellFault(`a request was answered ${status}: ${body.slice(0, 200)}`)
    this.#idle.push(connection)
    this.#sendDue()
  }

  onReopen(): void {
    this.#reopened += 1
  }

  #sendDue(): void {
    while (this.#idle.length > 0) {
      const dueUs = this.#nextDueUs()
      if (dueUs === null) break
      const number = this.#sent++
      this.#entries.push({ number, dueUs, latencyUs: 0, status: 0, msgId: null })
      // Uses connections in turn: at a low rate the service would close idle ones.
      this.#idle.shift()!.send(number, dueUs, this.#request(number))
    }
  }

  /** When the next message was due; null when it is not due yet. */
  #nextDueUs(): number | null {
    const mode = this.#mode
    if (mode.name === 'stopped' || this.#sent === MESSAGE_LIMIT) return null
    const now = nowUs()
    if (mode.name === 'bounded') return this.#sent - this.#completed < mode.bound ? now : null
    const dueUs = Math.trunc(mode.startUs + (this.#sent - mode.first) / mode.perUs)
    if (dueUs <= now) return dueUs
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#sendDue(), (dueUs - now) / 1_000)
    return null
  }
}

class LoadConnection {
  readonly #port: number
  readonly #load: Load
  #socket: Socket | null = null
  #text = ''
  /** The message whose answer is to come; null when the connection is idle. */
  #request: { readonly number: number; readonly dueUs: number } | null = null

  private constructor(port: number, load: Load) {
    this.#port = port
    this.#load = load
  }

  static async open(port: number, load: Load): Promise<LoadConnection> {
    const connection = new LoadConnection(port, load)
    await new Promise<void>((resolve, reject) => {
      connection.#connect().once('connect', resolve).once('error', reject)
    })
    return connection
  }

  send(number: number, dueUs: number, request: string): void {
    this.#request = { number, dueUs }
    const socket = this.#socket ?? this.#connect()
    socket.write(request, 'latin1')
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => this.#onData(String(chunk)))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.#request !== null) tellFault('the service closed a connection under a request')
      this.#socket = null
      this.#text = ''
      this.#load.onReopen()
    })
    this.#socket = socket
    return socket
  }

  #onData(chunk: string): void {
    // 408 on a connection that has not been used: it is closed next.
    if (this.#request === null) return
    this.#text = this.#text === '' ? chunk : this.#text + chunk
    const head = this.#text.indexOf('\r\n\r\n')
    if (head < 0) return
    const bodyBytes = contentLength(this.#text, head)
    if (Number.isNaN(bodyBytes)) tellFault('an answer came without Content-Length')
    const end = head + 4 + bodyBytes
    // Also if there is no length: the run has ended.
    if (!(this.#text.length >= end)) return
    const text = this.#text
    this.#text = ''
    if (text.length > end) tellFault('more came than one answer')
    const { number, dueUs } = this.#request
    this.#request = null
    this.#load.onAnswer(this, number, dueUs, Number(text.slice(9, 12)), text.slice(head + 4, end))
  }
}

const LENGTH = '\r\ncontent-length: '

function contentLength(text: string, head: number): number {
  const at = text.indexOf(LENGTH)
  if (at >= 0 && at < head) {
    const start = at + LENGTH.length
    return Number(text.slice(start, text.indexOf('\r', start)))
  }
  return Number(/\r\ncontent-length: *(\d+)\r/i.exec(text.slice(0, head + 2))?.[1] ?? Number.NaN)
}

const [ports = '', connections = '', formsPath = ''] = process.argv.slice(2)
const load = new Load(ports.split(',').map(Number), requestsOf(readFileSync(formsPath, 'latin1')))
await load.open(Number(connections))

serveParent(
  {},
  {
    start: (bound) => load.run({ name: 'bounded', bound: Number(bound) }),
    rate: (rate) =>
      load.run({ name: 'paced', startUs: nowUs(), first: load.sent, perUs: Number(rate) / 1_000_000 }),
    stop: () => load.run({ name: 'stopped' }),
    completed(total) {
      load.completed(Number(total))
      return NO_ANSWER
    },
    report: () => load.report(),
    ledger: (path) => writeFileSync(path, load.ledger()),
  },
  async () => process.exit(),
)
