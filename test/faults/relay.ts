/**
 * A TCP relay between the service and something it connects to, so that the network between them can fail. Its port stays
 * the same whatever is behind it.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'

type State = 'open' | 'frozen' | 'refusing'

interface Swallowing {
  readonly text: Buffer
  readonly begin: () => void
  begun: boolean
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class Relay {
  /** Sets the target of later connections. */
  targetPort: number
  #state: State = 'open'
  #swallowing: Swallowing | null = null
  readonly #pairs = new Set<Pair>()
  readonly #server: Server

  constructor(targetPort: number) {
    this.targetPort = targetPort
    this.#server = createServer({ noDelay: true }, (client) => this.#join(client))
  }

  static async start(targetPort: number): Promise<Relay> {
    const relay = new Relay(targetPort)
    relay.#server.listen(0, '127.0.0.1')
    await once(relay.#server, 'listening')
    return relay
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Silently stops all data: connections stay open, and new ones are accepted. */
  freeze(): void {
    this.#state = 'frozen'
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  /** Lets data through again, including what was sent in the meantime. */
  thaw(): void {
    this.#state = 'open'
    for (const { client, server } of this.#pairs) {
      client.resume()
      server.resume()
    }
  }

  /** Ends every connection with RST, on both sides. */
  reset(): void {
    this.#swallowing = null
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
  }

  /** New connections are reset at once, until `thaw`. */
  refuse(): void {
    this.#state = 'refusing'
    this.reset()
  }

  /** Loses the next answer with this text and every later one, until `reset`. Resolves when it loses the first. */
  swallow(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#swallowing = { text: Buffer.from(text), begin: resolve, begun: false }
    return promise
  }

  /** Sends octets to every client, between those of the server. */
  inject(octets: Buffer): void {
    for (const { client } of this.#pairs) client.write(octets)
  }

  async stop(): Promise<void> {
    this.reset()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answers(): Transform {
    const isLost = (octets: Buffer) => {
      const swallowing = this.#swallowing
      if (swallowing === null) return false
      swallowing.begun ||= octets.includes(swallowing.text)
      if (swallowing.begun) swallowing.begin()
      return swallowing.begun
    }
    return new Transform({
      transform(octets: Buffer, _encoding, done) {
        if (isLost(octets)) done()
        else done(null, octets)
      },
    })
  }

  #join(client: Socket): void {
    client.on('error', () => client.destroy())
    if (this.#state === 'refusing') {
      client.resetAndDestroy()
      return
    }
    const server = connect({ host: '127.0.0.1', port: this.targetPort, noDelay: true })
    const pair = { client, server }
    this.#pairs.add(pair)
    server.on('error', () => client.resetAndDestroy())
    client.on('error', () => server.resetAndDestroy())
    client.pipe(server)
    server.pipe(this.#answers()).pipe(client)
    if (this.#state === 'frozen') {
      client.pause()
      server.pause()
    }
    for (const socket of [client, server])
      socket.on('close', () => {
        this.#pairs.delete(pair)
        client.destroy()
        server.destroy()
      })
  }
}

/** One relay for each node, so that the network can fail for all nodes or for one. */
export class Relays {
  readonly ofNodes: readonly Relay[]

  private constructor(ofNodes: readonly Relay[]) {
    this.ofNodes = ofNodes
  }

  static async start(targetPort: number, nodes: number): Promise<Relays> {
    return new Relays(await Promise.all(Array.from({ length: nodes }, () => Relay.start(targetPort))))
  }

  leadTo(port: number): void {
    for (const relay of this.ofNodes) relay.targetPort = port
  }

  freeze(): void {
    for (const relay of this.ofNodes) relay.freeze()
  }

  thaw(): void {
    for (const relay of this.ofNodes) relay.thaw()
  }

  reset(): void {
    for (const relay of this.ofNodes) relay.reset()
  }

  refuse(): void {
    for (const relay of this.ofNodes) relay.refuse()
  }

  async stop(): Promise<void> {
    await Promise.all(this.ofNodes.map((relay) => relay.stop()))
  }
}
