import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { ServerCertificate } from './certificates.ts'

/** A server that speaks bytes, for answers no HTTP library would give. */
export interface RawReceiver {
  port: number
  /** Sockets accepted so far, secured ones when there is a certificate. */
  sockets: readonly Socket[]
  close(): Promise<void>
}

/**
 * Listens on 127.0.0.1, with TLS when given a certificate, and hands over each socket each time a request has come in
 * whole (its body is taken to come with its head).
 */
export async function startRawReceiver(
  certificate: ServerCertificate | null,
  onRequest: (socket: Socket) => void,
): Promise<RawReceiver> {
  const sockets: Socket[] = []
  const tcpSockets: Socket[] = []
  const onSocket = (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      if (chunk.includes('\r\n\r\n')) onRequest(socket)
    })
  }
  const server: Server =
    certificate === null
      ? createTcpServer(onSocket)
      : createTlsServer({ cert: certificate.certPem, key: certificate.keyPem }, onSocket)
  server.on('connection', (socket: Socket) => {
    tcpSockets.push(socket)
    socket.on('error', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of [...sockets, ...tcpSockets]) socket.destroy()
      await closed
    },
  }
}
