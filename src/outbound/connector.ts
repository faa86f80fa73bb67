import { connect as connectTcp, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls'
import { isSameAddress } from '../domain/ip-addresses.ts'
import type { CallbackTarget } from '../domain/webhooks/callback-url.ts'
import { DialError, dialErrorOf } from './delivery-errors.ts'

export interface ConnectorOptions {
  /** Certificate authorities trusted in addition to the public ones, PEM. */
  caPem?: string | undefined
  /** Time for TCP and TLS together. */
  connectTimeoutMs: number
}

/** Notified of what happens to a socket. */
export interface SocketUser {
  connected(): void
  /** The bytes are valid during the call only: all sockets read into one buffer. */
  received(bytes: Buffer): void
  /** Called once, and last. `failure`: why the connection could not be made; null if it was made. */
  closed(failure: DialError | null): void
}

/** What a user may do with its socket. */
export interface OpenSocket {
  write(text: string, encoding: 'utf8'): boolean
  /** Bytes that the system has not taken yet. */
  readonly writableLength: number
  destroy(): unknown
}

/** Opens sockets to exactly this address, as this host. */
export type Dialler = (user: SocketUser) => OpenSocket

const READ_BUFFER_BYTES = 16 * 1_024

/**
 * The only place that opens a socket for a webhook. It never resolves a name: the address was judged before, and is checked
 * again on the connected socket. The certificate is always verified for the host name, even if the environment has
 * NODE_TLS_REJECT_UNAUTHORIZED. TLS 1.2 or later, HTTP/1.1 only. TLS sessions are resumed.
 */
export function createConnector(
  options: ConnectorOptions,
): (target: CallbackTarget, address: string) => Dialler {
  // Made for the first TLS connection: many nodes never send a webhook.
  let secureContext: SecureContext | undefined
  const buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)
  return (target, address) => {
    let session: Buffer | undefined
    return (user) => {
      const { port, hostname } = target
      const onread = {
        buffer,
        callback: (bytes: number) => {
          user.received(buffer.subarray(0, bytes))
          return true
        },
      }
      if (target.protocol === 'https:') secureContext ??= contextTrusting(options.caPem)
      const secured = {
        host: address,
        port,
        onread,
        // No SNI for an IP literal (RFC 6066 §3); the certificate is then checked against the address.
        ...(target.address === null ? { servername: hostname } : {}),
        ...(session === undefined ? {} : { session }),
        secureContext,
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true,
      }
      const socket =
        target.protocol === 'http:' ? connectTcp({ host: address, port, onread }) : connectTls(secured)
      if (socket instanceof TLSSocket) {
        socket.on('session', (ticket) => {
          session = ticket
        })
      }
      supervise(socket, address, options.connectTimeoutMs, user)
      return socket
    }
  }
}

let lastContext: { readonly caPem: string | undefined; readonly context: SecureContext } | undefined

/**
 * The context of all connections that trust this authority and the public ones. The last one is kept, because reading the
 * public authorities takes some 10 ms and 1.5 MB, and all sockets of a node trust the same.
 */
function contextTrusting(caPem: string | undefined): SecureContext {
  if (lastContext === undefined || lastContext.caPem !== caPem) {
    const ca = getCACertificates('default')
    const context = createSecureContext({
      ca: caPem === undefined ? ca : [...ca, caPem],
      minVersion: 'TLSv1.2',
    })
    lastContext = { caPem, context }
  }
  return lastContext.context
}

/** Names the reason why a connection could not be made in time, and reports the end of one that was made. */
function supervise(socket: Socket, address: string, connectTimeoutMs: number, user: SocketUser): void {
  let phase: 'tcp' | 'tls' | 'open' | 'closed' = 'tcp'
  const timer = setTimeout(() => socket.destroy(new DialError('CONNECT_TIMEOUT')), connectTimeoutMs)
  const close = (error: Error) => {
    if (phase === 'closed') return
    const during = phase
    phase = 'closed'
    clearTimeout(timer)
    if (during === 'open') {
      user.closed(null)
      return
    }
    const fault = socket instanceof TLSSocket ? (socket.authorizationError ?? null) : null
    // A connection that was not accepted counts as refused, not reset: the reset came before we looked.
    const isReset = socket instanceof TLSSocket && 'code' in error && error.code === 'ECONNRESET'
    user.closed(dialErrorOf(error, isReset ? 'tls' : during, fault === null ? null : String(fault)))
  }
  const open = () => {
    if (phase === 'closed' || socket.destroyed) return
    phase = 'open'
    clearTimeout(timer)
    user.connected()
  }

  socket.setNoDelay(true)
  socket.once('connect', () => {
    const { remoteAddress } = socket
    if (socket instanceof TLSSocket) phase = 'tls'
    if (remoteAddress === undefined) {
      // The other side has reset it by now.
      socket.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    } else if (!isSameAddress(remoteAddress, address)) {
      socket.destroy(new DialError('FORBIDDEN_ADDRESS'))
    } else if (!(socket instanceof TLSSocket)) {
      open()
    }
  })
  socket.once('secureConnect', open)
  socket.on('error', close)
  // The peer writes no more, so it will not answer open requests. Reported at once, because `close` comes only after the next
  // turn's requests are written.
  socket.once('end', () => {
    if (phase !== 'open') return
    socket.destroy()
    close(new Error('ended'))
  })
  socket.once('close', () => close(new Error('closed')))
}
