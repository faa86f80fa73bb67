import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { serveParent } from './parent.ts'

/** One socket that repeatedly writes many requests at once and reads all answers. Needs no token. */

/** Answered without reading the database. */
const ANSWER = 'HTTP/1.1 401 '

const [port, requests] = process.argv.slice(2).map(Number) as [number, number]
const burst = `POST /v1/sendsms HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 0\r\n\r\n`.repeat(
  requests,
)
let pipelining: Promise<number[]> = Promise.resolve([])
let running = false

/** Milliseconds that each burst took, from the first byte written to the last answer. */
async function pipeline(): Promise<number[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const durations: number[] = []
  while (running) {
    const startMs = performance.now()
    socket.write(burst, 'latin1')
    await readAnswers(socket)
    durations.push(performance.now() - startMs)
  }
  socket.destroy()
  return durations
}

/** @throws (rejects) Error when the service ends the connection before the last answer. */
async function readAnswers(socket: Socket): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  socket.once('close', end)
  let rest = ''
  for (let answered = 0; answered < requests; ) {
    const [chunk] = (await once(socket, 'data', { signal: ended.signal })) as [Buffer]
    const parts = (rest + chunk.toString('latin1')).split(ANSWER)
    answered += parts.length - 1
    // An answer's first line may come in two chunks.
    rest = parts.at(-1)!.slice(-ANSWER.length)
  }
  socket.off('close', end)
}

serveParent(
  {},
  {
    start() {
      running = true
      pipelining = pipeline()
      pipelining.catch(() => undefined)
    },
    stop() {
      running = false
      return pipelining
    },
  },
  async () => {
    running = false
  },
)
