/** Clients that keep their connections and send without a pause, as a service under load has them. */
import type { Socket } from 'node:net'
import type { Ready } from './process.ts'
import { openSocket, parseAnswer, requestBytes } from './raw-http.ts'

/** After a connection was refused, as when a node has just stopped. */
const REFUSED_PAUSE_MS = 50
const REQUEST = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'

/** A client that sends over one kept connection, each request as soon as it has the answer before. */
export class KeptClient {
  answered = 0
  /** What of an answer has come when the connection ends. */
  #text = ''
  #last = false
  readonly ended: Promise<'after its last answer' | 'without an answer'>

  constructor(socket: Awaited<ReturnType<typeof openSocket>>) {
    const { promise, resolve } = Promise.withResolvers<'after its last answer' | 'without an answer'>()
    this.ended = promise
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      if (!this.#text.endsWith('{"ok":true}')) return
      this.answered += 1
      this.#last = /^connection: close\r$/im.test(this.#text)
      this.#text = ''
      if (!this.#last) socket.write(REQUEST)
    })
    socket.once('close', () => resolve(this.#last ? 'after its last answer' : 'without an answer'))
    socket.write(REQUEST)
  }
}

/**
 * Sends over kept connections, each message when the one before has been answered and the pause is over, to the next node
 * when a connection ends.
 */
export class KeptSender {
  readonly statuses: number[] = []
  /** Of the messages that were accepted. */
  readonly msgIds: string[] = []
  /** Requests that were written and never answered. */
  unanswered = 0
  readonly #ports: readonly number[]
  readonly #request: Buffer
  readonly #pauseMs: number
  #stopped = false
  readonly ended: Promise<void>

  constructor(ports: readonly number[], access: Ready, first: number, pauseMs = 0) {
    this.#ports = ports
    this.#pauseMs = pauseMs
    const body = JSON.stringify({
      servicePlanId: access.servicePlanId,
      channel: 'SMS',
      from: access.sender,
      to: '+15551230001',
      body: 'Hello',
    })
    const headers = {
      authorization: `Bearer ${access.token}`,
      'content-type': 'application/json',
      connection: 'keep-alive',
    }
    this.#request = requestBytes({ method: 'POST', path: '/v1/sendsms', headers, body })
    this.ended = this.#run(first)
  }

  stop(): Promise<void> {
    this.#stopped = true
    return this.ended
  }

  async #run(first: number): Promise<void> {
    for (let turn = first; !this.#stopped; turn += 1) {
      const port = this.#ports[turn % this.#ports.length]!
      const socket = await openSocket(port).catch(() => null)
      if (socket === null) await new Promise((wake) => setTimeout(wake, REFUSED_PAUSE_MS))
      else await this.#sendOver(socket)
    }
  }

  /** Until the node says that it closes the connection, or closes it. */
  #sendOver(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      let bytes = Buffer.alloc(0)
      let isAsked = true
      const ask = () => {
        if (socket.destroyed) return
        isAsked = true
        socket.write(this.#request)
      }
      socket.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk])
        const answer = parseAnswer(bytes)
        // The body is JSON, so that a part of it is none.
        if (answer?.json === undefined) return
        this.statuses.push(answer.status)
        if (answer.status === 202) this.msgIds.push(answer.json.msgId)
        bytes = Buffer.alloc(0)
        isAsked = false
        if (this.#stopped || answer.headers.get('connection') === 'close') socket.end()
        else if (this.#pauseMs === 0) ask()
        else setTimeout(ask, this.#pauseMs)
      })
      socket.on('error', () => undefined)
      socket.once('close', () => {
        if (isAsked) this.unanswered += 1
        resolve()
      })
      socket.write(this.#request)
    })
  }
}
