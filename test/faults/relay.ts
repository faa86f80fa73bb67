/**
 * A TCP relay between the service and something it connects to, so that the network between them can fail. Its port stays
 * the same whatever is behind it.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

type State = 'open' | 'frozen' | 'refusing'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class Relay {
  /** Where it leads; changed for what connects from then on. */
  targetPort: number
  #state: State = 'open'
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

  /** Nothing comes through any more, and nobody is told: connections stand, new ones too. */
  freeze(): void {
    this.#state = 'frozen'
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  /** What was sent meanwhile comes through. */
  thaw(): void {
    this.#state = 'open'
    for (const { client, server } of this.#pairs) {
      client.resume()
      server.resume()
    }
  }

  /** Ends every connection with RST, on both sides. */
  reset(): void {
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

  /** Octets to every client, between those of the server. */
  inject(octets: Buffer): void {
    for (const { client } of this.#pairs) client.write(octets)
  }

  async stop(): Promise<void> {
    this.reset()
    await new Promise((resolve) => this.#server.close(resolve))
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
    server.pipe(client)
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
