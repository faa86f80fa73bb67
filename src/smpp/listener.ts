import net from 'node:net'
import tls from 'node:tls'
import { Connection, type ConnectionHandlers, type TransportOptions } from './connection.ts'
import { type SessionOptions, sessionSettings } from './session-options.ts'

export interface ListenOptions extends Omit<SessionOptions, 'bind'>, TransportOptions {
  readonly port: number
  /** Default 127.0.0.1. */
  readonly host?: string
  readonly tls?: tls.TlsOptions
  /** Further connections are dropped at once. Default 1,000. */
  readonly maxConnections?: number
}

/** A listening SMSC. */
export interface SmscServer<Token = unknown> {
  readonly port: number
  readonly connections: ReadonlySet<Connection<Token>>
  /** Stops listening and drops every connection (unbind them first for an orderly end). Resolves when all are gone. */
  close(): Promise<void>
}

/**
 * Listens as an SMSC. `onConnection` is called for each peer and returns its handlers; their `onBind` judges the bind.
 * @throws (rejects) the listener's error, such as EADDRINUSE.
 */
export function listen<Token = unknown>(
  options: ListenOptions,
  onConnection: (connection: Connection<Token>) => ConnectionHandlers<Token>,
): Promise<SmscServer<Token>> {
  const settings = sessionSettings('smsc', options)
  const connections = new Set<Connection<Token>>()
  const accept = (socket: net.Socket) => {
    const connection = new Connection<Token>(socket, settings, onConnection, options)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
    connection.opened()
  }
  const server: net.Server =
    options.tls === undefined
      ? net.createServer(accept)
      : tls.createServer({ handshakeTimeout: 10_000, ...options.tls }, accept)
  // The plain sockets below TLS: those still in their handshake would hold up close().
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.maxConnections = options.maxConnections ?? 1_000
  const { promise, resolve, reject } = Promise.withResolvers<SmscServer<Token>>()
  server.once('error', reject)
  server.listen(options.port, options.host ?? '127.0.0.1', () => {
    server.off('error', reject)
    // A fault of the listener while it is up, such as no file descriptors left, concerns one connection.
    server.on('error', () => undefined)
    const close = async (): Promise<void> => {
      const closed = new Promise<void>((done) => server.close(() => done()))
      for (const each of [...connections, ...sockets]) each.destroy()
      await closed
    }
    resolve({ port: (server.address() as net.AddressInfo).port, connections, close })
  })
  return promise
}
