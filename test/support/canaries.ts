/**
 * Listeners on every address of a network namespace, which tell where each connection went.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { readRequests } from './raw-requests.ts'

/** What the next connections meet: TLS with this context and this answer to each request; or silence. */
interface Manners {
  readonly secureContext: SecureContext | null
  /** Raw bytes of the answer, one character each. */
  readonly answer: string
}

export interface Canaries {
  meetWith(manners: Manners): void
  /** Where connections went since last asked, as `10.0.0.1:443` or `[fd00::1]:443`. */
  takeConnections(): Promise<string[]>
  /** Heads of the requests that came since last asked. */
  takeRequests(): string[]
  close(): Promise<void>
}

/** Listens on all addresses of both families, on each of the ports. */
export async function startCanaries(ports: readonly number[]): Promise<Canaries> {
  const connections: string[] = []
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let manners: Manners = { secureContext: null, answer: '' }

  const onConnection = (socket: Socket) => {
    connections.push(endpointOf(socket))
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    const { secureContext, answer } = manners
    if (secureContext === null) return
    const secured = new TLSSocket(socket, { isServer: true, secureContext })
    secured.on('error', () => socket.destroy())
    readRequests(secured, async (head) => {
      requests.push(head)
      secured.write(answer, 'latin1')
    })
  }
  const servers = ports.map((port) => createServer(onConnection).listen(port, '::'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return {
    meetWith: (next) => {
      manners = next
    },
    takeConnections: async () => {
      // The kernel has every connection by now; a turn of the event loop brings them all here.
      for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return connections.splice(0)
    },
    takeRequests: () => requests.splice(0),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map((server: Server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

function endpointOf({ localAddress = '', localPort }: Socket): string {
  const address = localAddress.replace(/^::ffff:(?=[\d.]+$)/, '')
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`
}

/** The kernel's own count for this network: connections begun, those a listener took, and those that failed. */
export interface TcpCounts {
  begun: number
  taken: number
  failed: number
}

/** RFC 4022 tcpActiveOpens, tcpPassiveOpens, tcpAttemptFails; IPv4 and IPv6 together. */
export function tcpCounts(): TcpCounts {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp: '))
    .map((line) => line.split(' '))
  const of = (name: string) => Number(values[names.indexOf(name)])
  return { begun: of('ActiveOpens'), taken: of('PassiveOpens'), failed: of('AttemptFails') }
}
