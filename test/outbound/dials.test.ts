import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { outboundNetwork, post } from '../support/outbound-network.ts'

const { certificate, closing, sockets, urlAt } = await outboundNetwork()

const REQUESTS = 128
const MAX_DIALS = 32

/** Keeps each TLS handshake waiting until `release`, and answers each request. */
async function slowHandshakes() {
  const handshakes: Socket[] = []
  let isReleased = false
  const secured = createTlsServer({ key: certificate.keyPem, cert: certificate.certPem }, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    socket.on('error', () => socket.destroy())
  })
  const server = createServer((socket) => {
    if (isReleased) secured.emit('connection', socket)
    else handshakes.push(socket)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing({ close: () => new Promise<void>((closed) => server.close(() => closed())) })
  const release = () => {
    isReleased = true
    for (const socket of handshakes) secured.emit('connection', socket)
  }
  return { port: (server.address() as { port: number }).port, handshakes, release }
}

test('128 requests to a new receiver: 32 handshakes at once, and all are sent', async () => {
  const { port, handshakes, release } = await slowHandshakes()
  const through = sockets({ maxSocketsPerOrigin: 256 })
  const outcomes = Array.from({ length: REQUESTS }, () => post(through, urlAt(port)))
  await eventually(() => handshakes.length > 0)
  // Connections are accepted in the order in which they were made: behind this one are none of the first.
  const last = connect(port, '127.0.0.1')
  await eventually(() => handshakes.some(({ remotePort }) => remotePort === last.localPort))
  last.destroy()
  expect(handshakes).toHaveLength(MAX_DIALS + 1)
  release()
  expect((await Promise.all(outcomes)).filter(({ ok }) => !ok)).toEqual([])
})
