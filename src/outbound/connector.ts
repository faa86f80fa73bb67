import { connect as connectTcp, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls'
import type { buildConnector } from 'undici'
import type { CallbackTarget } from '../domain/callback-url.ts'
import { isSameAddress } from '../domain/ip-addresses.ts'
import { DialError, dialErrorOf } from './delivery-errors.ts'

export interface ConnectorOptions {
  /** Certificate authorities trusted beside the public ones, PEM. */
  caPem?: string | undefined
  /** Time for TCP and TLS together. */
  connectTimeoutMs: number
}

/** Makes the connect function of one pool: to exactly this address, as this host. */
export type Dialler = (target: CallbackTarget, address: string) => buildConnector.connector

/**
 * The one place a socket is opened for a webhook. It never resolves a name: the address was judged before, and is
 * asserted once more on the connected socket. TLS is verified for the host name whatever the environment says
 * (NODE_TLS_REJECT_UNAUTHORIZED), at 1.2 or later, HTTP/1.1 only.
 */
export function createDialler(options: ConnectorOptions): Dialler {
  const secureContext = contextTrusting(options.caPem)
  return (target, address) => {
    let session: Buffer | undefined
    return (_options, callback) => {
      const { port, hostname } = target
      const socket =
        target.protocol === 'http:'
          ? connectTcp({ host: address, port })
          : connectTls({
              host: address,
              port,
              // No SNI for an IP literal (RFC 6066 §3); the certificate is then checked against the address.
              ...(target.address === null ? { servername: hostname } : {}),
              ...(session === undefined ? {} : { session }),
              secureContext,
              ALPNProtocols: ['http/1.1'],
              rejectUnauthorized: true,
            })
      if (socket instanceof TLSSocket) {
        socket.on('session', (ticket) => {
          session = ticket
        })
      }
      superviseDial(socket, address, options.connectTimeoutMs, callback)
    }
  }
}

let lastContext: { readonly caPem: string | undefined; readonly context: SecureContext } | undefined

/**
 * The context of all connections that trust this authority beside the public ones. The last one is kept: reading the
 * public authorities takes some 10 ms and 1.5 MB, and the dispatchers of a node trust the same.
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

/** Calls back once: with the ready socket, or with a DialError and the socket destroyed. */
function superviseDial(
  socket: Socket,
  address: string,
  connectTimeoutMs: number,
  callback: buildConnector.Callback,
): void {
  let phase: 'tcp' | 'tls' = 'tcp'
  let isSettled = false
  const timer = setTimeout(() => socket.destroy(new DialError('CONNECT_TIMEOUT')), connectTimeoutMs)
  const fail = (error: Error) => {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    const fault = socket instanceof TLSSocket ? (socket.authorizationError ?? null) : null
    // A connection that was not taken is refused, not reset: the reset came before we looked.
    if (socket instanceof TLSSocket && 'code' in error && error.code === 'ECONNRESET') phase = 'tls'
    callback(dialErrorOf(error, phase, fault === null ? null : String(fault)), null)
  }
  const succeed = () => {
    if (isSettled || socket.destroyed) return
    isSettled = true
    clearTimeout(timer)
    callback(null, socket)
  }

  socket.setNoDelay(true)
  socket.once('connect', () => {
    phase = 'tls'
    if (!isSameAddress(socket.remoteAddress ?? '', address)) {
      socket.destroy(new DialError('FORBIDDEN_ADDRESS'))
    } else if (!(socket instanceof TLSSocket)) {
      succeed()
    }
  })
  socket.once('secureConnect', succeed)
  // The listener stays: between two owners an error without one would end the process.
  socket.on('error', fail)
  socket.once('close', () => fail(new Error('closed')))
}
