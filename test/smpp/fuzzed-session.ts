import assert from 'node:assert/strict'
import net from 'node:net'
import type { ConnectionHandlers } from '../../src/smpp/connection.ts'
import { type Connection, connect } from '../../src/smpp/connection.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { listen, type SmscServer } from '../../src/smpp/listener.ts'
import type { PduInput, RequestInput, RequestPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { walk } from './fuzz-oracles.ts'

/** One of our sessions and, at the other end of its socket, a peer that writes whatever octets it is given. */

/** Limits of every wait; only a hang comes near them. */
const WAIT_MS = 15_000
/** Idle timers must not add frames, because only the seed may decide what is sent. */
const TIMINGS = { bindTimeoutMs: 600_000, enquireLinkIntervalMs: 600_000, responseTimeoutMs: 600_000 }
const WINDOW = 8
const UNBIND = 0x06

export interface Target {
  /** A new session, bound unless told otherwise (an SMSC's may wait for its bind). */
  open(bound: boolean): Promise<FuzzedSession>
  close(): Promise<void>
}

/** What our side does with requests: some are answered at once, some later. */
function handlers(): ConnectionHandlers<number> & { closedBy: string | null } {
  return {
    closedBy: null,
    onBind(pdu, link) {
      link.respond(pdu, STATUSES.ESME_ROK, { system_id: 'SMSC' })
    },
    onRequest(pdu, link) {
      const answer = (request: RequestPdu) => link.respond(request, STATUSES.ESME_ROK, { message_id: '1' })
      if (pdu.sequence % 4 === 0) setImmediate(answer, pdu)
      else answer(pdu)
    },
    onClose(reason) {
      this.closedBy = reason.error === undefined ? reason.code : `${reason.code}: ${reason.error.stack}`
    },
  }
}

class FuzzedSession {
  readonly #peer: net.Socket
  readonly #link: Connection<number>
  readonly #state: { readonly closedBy: string | null }
  readonly #request: RequestInput
  readonly #isBound: boolean
  #unread: Buffer = Buffer.alloc(0)
  #awaited: { commandId: number; sequence: number; seen: () => void } | null = null
  #fault: Error | null = null
  #enquiries = 0

  constructor(
    peer: net.Socket,
    link: Connection<number>,
    state: { readonly closedBy: string | null },
    request: RequestInput,
    isBound: boolean,
  ) {
    this.#peer = peer
    this.#link = link
    this.#state = state
    this.#request = request
    this.#isBound = isBound
    peer.setNoDelay(true)
    // A reset is one way to close; the link reports why.
    peer.on('error', () => undefined)
    peer.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  get isOpen(): boolean {
    return this.#state.closedBy === null
  }

  /** Sequence numbers of our requests, which the peer answers, rightly or wrongly. */
  sendRequests(): number[] {
    const sequences: number[] = []
    while (this.#link.windowFree > 0) {
      const sequence = this.#link.send(this.#request, 0)
      if (sequence <= 0) break
      sequences.push(sequence)
    }
    return sequences
  }

  /**
   * Sends what `stream` was cut into, then the right answers to `sequences`, then an enquire_link: it must be answered,
   * or the session closed if something in the stream says so. @throws AssertionError what did not hold.
   */
  async survive(stream: Buffer, chunks: readonly Buffer[], sequences: readonly number[]): Promise<void> {
    const sequence = 0x70000000 + ++this.#enquiries
    const ending = expectedEnd(stream)
    const seen = this.#expect(0x80000015, sequence)
    for (const chunk of chunks) this.#peer.write(chunk)
    const command = `${this.#request.command}_resp` as 'submit_sm_resp' | 'deliver_sm_resp'
    const answers: PduInput[] = sequences.map((number) => ({ command, sequence: number, message_id: '1' }))
    this.#peer.write(
      Buffer.concat([...answers, { command: 'enquire_link', sequence } as const].map(encodePdu)),
    )
    await within(Promise.race([seen, this.#link.whenClosed()]), () => this.#wedged())
    if (this.#fault !== null) throw this.#fault
    if (this.isOpen) {
      if (this.#isBound) assert.equal(ending, null, 'the session should have closed')
      else assert.notEqual(ending, 'frame_error', 'the session should have closed')
      assert.equal(this.#link.unanswered, 0, 'requests were answered and still hold the window')
    } else if (this.#isBound) {
      assert.equal(this.#state.closedBy, ending, 'why the session closed')
    } else {
      assert.match(String(this.#state.closedBy), /^(frame_error|peer_unbound)$/)
    }
  }

  /** The peer goes away in the middle of a PDU, as a crashed one does. */
  async vanish(): Promise<void> {
    this.#peer.write(Buffer.from([0, 0, 0, 40, 0, 0, 0, 4, 0]))
    this.#peer.destroySoon()
    await within(this.#link.whenClosed(), () => this.#wedged())
    assert.match(String(this.#state.closedBy), /^(peer_closed|socket_error)/)
  }

  /** Ends everything that is still open. */
  async drop(): Promise<void> {
    this.#link.destroy()
    this.#peer.destroy()
    await within(this.#link.whenClosed(), () => this.#wedged())
  }

  /** Resolves when our side has sent this PDU. */
  #expect(commandId: number, sequence: number): Promise<void> {
    return new Promise((seen) => {
      this.#awaited = { commandId, sequence, seen }
    })
  }

  /** Our side must write correct PDUs, whatever it was sent. */
  #read(chunk: Buffer): void {
    const stream = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk])
    const { starts, isFaulty } = walk(stream)
    let end = 0
    for (const start of starts) {
      end = start + stream.readUInt32BE(start)
      const { command } = decodePdu(stream, start, end)
      if (command === 'malformed' || command === 'unknown') this.#fault = new Error(`we sent: ${command}`)
      const { commandId, sequence, seen } = this.#awaited ?? {}
      if (stream.readUInt32BE(start + 4) !== commandId || stream.readUInt32BE(start + 12) !== sequence)
        continue
      this.#awaited = null
      seen?.()
    }
    if (isFaulty) this.#fault = new Error('we sent: an impossible command_length')
    this.#unread = Buffer.from(stream.subarray(end))
  }

  #wedged(): string {
    const { state, unanswered, anomalies } = this.#link
    return `no answer and no end in ${WAIT_MS} ms: ${JSON.stringify({ state, unanswered, anomalies })}`
  }
}

/** The reason with which a bound session closes while it reads the stream; null if it stays open. */
function expectedEnd(stream: Buffer): 'peer_unbound' | 'frame_error' | null {
  const { starts, isFaulty } = walk(stream)
  if (starts.some((start) => stream.readUInt32BE(start + 4) === UNBIND)) return 'peer_unbound'
  return isFaulty ? 'frame_error' : null
}

/** Our ESME; the peer is its carrier. */
export async function esmeTarget(): Promise<Target> {
  const accepted: ((socket: net.Socket) => void)[] = []
  const carrier = net.createServer((socket) => accepted.shift()?.(socket))
  await new Promise<void>((listening) => carrier.listen(0, '127.0.0.1', listening))
  const { port } = carrier.address() as net.AddressInfo
  const request: RequestInput = { command: 'submit_sm', destination_addr: '15551230002' }
  return {
    async open() {
      const peerOf = new Promise<net.Socket>((resolve) => accepted.push(resolve))
      const state = handlers()
      const bind = { command: 'bind_transceiver', system_id: 'aldis' } as const
      const link = connect<number>({ ...TIMINGS, host: '127.0.0.1', port, windowSize: WINDOW, bind }, state)
      const peer = await within(peerOf, () => 'our ESME did not connect')
      const session = new FuzzedSession(peer, link, state, request, true)
      // The first request of a session has the number 1.
      peer.write(encodePdu({ command: 'bind_transceiver_resp', sequence: 1, system_id: 'SMSC' }))
      await within(link.whenBound(), () => 'our ESME did not bind')
      return session
    },
    close: () => new Promise<void>((closed) => carrier.close(() => closed())),
  }
}

/** Our SMSC; the peer is an ESME. */
export async function smscTarget(): Promise<Target> {
  const opened: ((session: { link: Connection<number>; state: ReturnType<typeof handlers> }) => void)[] = []
  const server: SmscServer<number> = await listen<number>(
    { ...TIMINGS, port: 0, windowSize: WINDOW },
    (link) => {
      const state = handlers()
      opened.shift()?.({ link, state })
      return state
    },
  )
  const request: RequestInput = { command: 'deliver_sm', source_addr: '15551230002' }
  return {
    async open(bound) {
      const { promise, resolve } = Promise.withResolvers<Parameters<(typeof opened)[number]>[0]>()
      opened.push(resolve)
      const peer = net.connect({ host: '127.0.0.1', port: server.port })
      const { link, state } = await within(promise, () => 'our SMSC did not take the connection')
      const session = new FuzzedSession(peer, link, state, request, bound)
      if (bound) {
        const bind = encodePdu({ command: 'bind_transceiver', sequence: 1, system_id: 'peer' })
        peer.write(bind)
        await session.survive(Buffer.alloc(0), [], [])
        assert.equal(link.state, 'BOUND_TRX', 'our SMSC did not answer the bind')
      }
      return session
    },
    close: () => server.close(),
  }
}

function within<T>(promise: Promise<T>, message: () => string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(message())), WAIT_MS)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
