import net from 'node:net'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { Framer } from '../../src/smpp/framer.ts'
import type { Pdu, PduInput } from '../../src/smpp/pdu.ts'

/** A peer without manners: writes any octets, answers nothing by itself, gives what arrives one PDU at a time. */
export class RawPeer {
  readonly socket: net.Socket
  readonly closed: Promise<void>
  /** Sizes of the chunks that came. */
  readonly chunks: number[] = []
  readonly #framer = new Framer()
  readonly #received: Pdu[] = []
  readonly #waiting: PromiseWithResolvers<Pdu>[] = []

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk.length)
      this.#framer.push(chunk)
      while (this.#framer.next()) {
        const pdu = decodePdu(this.#framer.buffer, this.#framer.start, this.#framer.end)
        const waiting = this.#waiting.shift()
        if (waiting === undefined) this.#received.push(pdu)
        else waiting.resolve(pdu)
      }
    })
    // A reset is a way to close; `closed` tells of both.
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        for (const waiting of this.#waiting) waiting.reject(new Error('closed by the other side'))
        resolve()
      })
    })
  }

  static connect(port: number): Promise<RawPeer> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1' }, () => resolve(new RawPeer(socket)))
      socket.once('error', reject)
    })
  }

  write(...pdus: (PduInput | Buffer)[]): void {
    this.socket.write(Buffer.concat(pdus.map((pdu) => (Buffer.isBuffer(pdu) ? pdu : encodePdu(pdu)))))
  }

  /** Answers a request. */
  respond(request: Pdu, status = 0, fields: Record<string, unknown> = {}): void {
    const { command, sequence } = request
    this.write({ command: `${command}_resp`, sequence, status, ...fields } as PduInput)
  }

  /** Sends an unbind; resolves when the other side has closed. */
  async unbind(): Promise<void> {
    this.write({ command: 'unbind', sequence: 1 })
    await this.closed
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** One octet in each TCP segment. */
  async writeOctets(bytes: Buffer): Promise<void> {
    for (let i = 0; i < bytes.length; i++) {
      await new Promise((written) => this.socket.write(bytes.subarray(i, i + 1), written))
    }
  }

  /** The next PDU. Rejects when the connection closes first. */
  next(): Promise<Pdu> {
    const pdu = this.#received.shift()
    if (pdu !== undefined) return Promise.resolve(pdu)
    const waiting = Promise.withResolvers<Pdu>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  /** The next `count` PDUs as `[command, status, sequence]`. */
  async heads(count: number): Promise<[string, number, number][]> {
    const heads: [string, number, number][] = []
    while (heads.length < count) {
      const pdu = await this.next()
      heads.push([pdu.command, pdu.status, pdu.sequence])
    }
    return heads
  }

  /** Binds as transceiver with sequence 1. */
  async bind(): Promise<void> {
    this.write({ command: 'bind_transceiver', sequence: 1, system_id: 'raw' })
    await this.next()
  }
}

/** An SMSC that is a RawPeer: `accepted` is the first peer to connect. */
export async function rawServer(
  options: net.ServerOpts = {},
): Promise<{ port: number; accepted: Promise<RawPeer>; server: net.Server }> {
  const accepted = Promise.withResolvers<RawPeer>()
  const server = net.createServer(options, (socket) => accepted.resolve(new RawPeer(socket)))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { port: (server.address() as net.AddressInfo).port, accepted: accepted.promise, server }
}
