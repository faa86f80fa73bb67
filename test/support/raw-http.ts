import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { eventually } from './eventually.ts'

/** An HTTP answer as it stood on the wire. Header names are in lower case. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it field by field
  readonly json: any
}

export interface HttpRequest {
  readonly method: string
  /** Goes into the request line as it is: nothing is normalised or encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** The bytes of a request. Header values are Latin-1, as HTTP has them; the path is UTF-8. */
export function requestBytes({ method, path, headers = {}, body }: HttpRequest): Buffer {
  const payload = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const all: Record<string, string> = { host: 'localhost', connection: 'close', ...headers }
  if (body !== undefined) all['content-length'] ??= String(payload.length)
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n`),
    Buffer.from(`${lines.join('')}\r\n`, 'latin1'),
    payload,
  ])
}

/** Opens a connection to the server under test. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Resolves when nobody can connect any more. */
export async function untilRefused(port: number): Promise<void> {
  await eventually(async () => {
    const code = await openSocket(port).then(
      (socket) => void socket.destroy(),
      (error: NodeJS.ErrnoException) => error.code,
    )
    return code === 'ECONNREFUSED'
  })
}

/** Writes bytes and reads until the server closes; null when it closed without an answer. */
export async function exchange(port: number, bytes: Uint8Array | string): Promise<HttpAnswer | null> {
  const socket = await openSocket(port)
  const answer = readToEnd(socket)
  socket.write(bytes)
  return answer
}

/** Sends requests over one connection, each when the one before is answered; gives the answers. */
export async function exchangeInTurn(port: number, requests: readonly Buffer[]): Promise<HttpAnswer[]> {
  const socket = await openSocket(port)
  const answers: HttpAnswer[] = []
  for (const bytes of requests) {
    const answer = nextAnswer(socket)
    socket.write(bytes)
    answers.push(await answer)
  }
  socket.destroy()
  return answers
}

/** The next answer of a kept connection. Rejects when that ends before. */
export function nextAnswer(socket: Socket): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  let bytes: Buffer = Buffer.alloc(0)
  const onClose = () => reject(new Error('closed without an answer'))
  const onData = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    const answer = parseAnswer(bytes)
    if (answer === null || Buffer.byteLength(answer.text) < Number(answer.headers.get('content-length')))
      return
    socket.off('data', onData).off('close', onClose)
    resolve(answer)
  }
  socket.on('data', onData).once('close', onClose)
  return promise
}

/** Everything a connection still gives, taken as one answer. */
export async function readToEnd(socket: Socket): Promise<HttpAnswer | null> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => socket.once('close', resolve))
  return parseAnswer(Buffer.concat(chunks))
}

/** The first final answer in the bytes: interim ones (100 Continue) are passed over. */
export function parseAnswer(bytes: Buffer): HttpAnswer | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  if (status < 200) return parseAnswer(bytes.subarray(end + 4))
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const length = headers.get('content-length')
  const rest = bytes.subarray(end + 4)
  const text = (length === undefined ? rest : rest.subarray(0, Number(length))).toString()
  return { status, headers, text, json: jsonOf(text) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
