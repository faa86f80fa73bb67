/**
 * A transaction pooler such as PgBouncer before 1.21, for machines that have none: clients share a few connections to the
 * server, each for a transaction at a time, and messages are passed on as they are.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SharingPooler extends AsyncDisposable {
  readonly connectionString: string
}

interface ServerConnection {
  readonly socket: Socket
  client: Socket | null
}

const SSL_REQUEST = 80_877_103
/** Shared by all clients. */
const SERVER_CONNECTIONS = 3

/** Starts one before the database of a connection string whose role needs no password. */
export async function startSharingPooler(connectionString: string): Promise<SharingPooler> {
  const pooler = new Pooler(new URL(connectionString))
  const listener = createServer((client) => pooler.serve(client)).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(connectionString)
  url.port = String((listener.address() as AddressInfo).port)
  return {
    connectionString: url.href,
    async [Symbol.asyncDispose]() {
      pooler.close()
      listener.close()
      await once(listener, 'close')
    },
  }
}

class Pooler {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #idle: ServerConnection[] = []
  readonly #waiting: { client: Socket; bytes: Buffer }[] = []
  readonly #serving = new Map<Socket, ServerConnection>()
  #opened = 0

  constructor(target: URL) {
    this.#target = target
  }

  serve(client: Socket): void {
    this.#keep(client)
    let greeted = false
    client.on('data', (bytes: Buffer) => {
      if (!greeted && bytes.readInt32BE(4) === SSL_REQUEST) client.write('N')
      else if (!greeted) {
        greeted = true
        client.write(GREETING)
      } else if (this.#serving.has(client)) this.#serving.get(client)!.socket.write(bytes)
      else if (bytes[0] === 'X'.charCodeAt(0)) client.end()
      else {
        this.#waiting.push({ client, bytes })
        this.#assign()
      }
    })
    client.on('close', () => this.#serving.get(client)?.socket.destroy())
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  /** The connection that came back last serves next, as in PgBouncer. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      const server = this.#idle.pop()
      if (server === undefined) {
        if (this.#opened < SERVER_CONNECTIONS) this.#open()
        return
      }
      const { client, bytes } = this.#waiting.shift()!
      server.client = client
      this.#serving.set(client, server)
      server.socket.write(bytes)
    }
  }

  #open(): void {
    this.#opened += 1
    const socket = connect({ host: this.#target.hostname, port: Number(this.#target.port) })
    this.#keep(socket)
    const server: ServerConnection = { socket, client: null }
    const framer = new Framer()
    socket.on('connect', () => socket.write(startup(this.#target)))
    socket.on('data', (bytes: Buffer) => {
      server.client?.write(bytes)
      if (!framer.endsTransaction(bytes)) return
      if (server.client !== null) this.#serving.delete(server.client)
      server.client = null
      this.#idle.push(server)
      this.#assign()
    })
    socket.on('close', () => {
      this.#opened -= 1
      const at = this.#idle.indexOf(server)
      if (at >= 0) this.#idle.splice(at, 1)
      server.client?.destroy()
      this.#assign()
    })
  }
}

/** Follows the messages of a server: type, length, content (PostgreSQL manual, 55.7). */
class Framer {
  #rest: Buffer = Buffer.alloc(0)

  /** True when these bytes end with ReadyForQuery outside a transaction. */
  endsTransaction(bytes: Buffer): boolean {
    this.#rest = Buffer.concat([this.#rest, bytes])
    let ended = false
    while (this.#rest.length >= 5 && this.#rest.length > this.#rest.readInt32BE(1)) {
      const end = 1 + this.#rest.readInt32BE(1)
      ended = this.#rest.toString('latin1', 0, 1) === 'Z' && this.#rest.toString('latin1', 5, 6) === 'I'
      this.#rest = this.#rest.subarray(end)
    }
    return ended && this.#rest.length === 0
  }
}

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), length, content])
}

function startup({ username, pathname }: URL): Buffer {
  const parameters = `user\0${username}\0database\0${pathname.slice(1)}\0client_encoding\0UTF8\0\0`
  return message('', Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from(parameters)]))
}

/** AuthenticationOk, a cancel key that is nobody's, ReadyForQuery. */
const GREETING = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('standard_conforming_strings\0on\0')),
  message('K', Buffer.from([0x7f, 0xff, 0xff, 0xfe, 0, 0, 0, 1])),
  message('Z', Buffer.from('I')),
])
