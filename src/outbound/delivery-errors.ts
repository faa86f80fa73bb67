import type { DialRefusal } from './callback-guard.ts'

/** Why a connection could not be made. Nothing of the request was sent. */
export type DialErrorName =
  | 'FORBIDDEN_ADDRESS'
  | 'CONNECT_REFUSED'
  | 'CONNECT_UNREACHABLE'
  | 'CONNECT_TIMEOUT'
  | 'CONNECT_FAILED'
  | 'TLS_CERTIFICATE_EXPIRED'
  | 'TLS_CERTIFICATE_UNTRUSTED'
  | 'TLS_HOSTNAME_MISMATCH'
  | 'TLS_HANDSHAKE'

/** The closed list of reasons why an attempt fails: before, during and after the request. */
export type DeliveryErrorName =
  | DialRefusal
  | DialErrorName
  | 'QUEUE_FULL'
  | 'QUEUE_TIMEOUT'
  | 'INVALID_REQUEST'
  | 'CONNECTION_RESET'
  | 'PROTOCOL_ERROR'
  | 'RESPONSE_TIMEOUT'
  | 'RESPONSE_TOO_LARGE'
  | 'REDIRECT'
  | 'HTTP_STATUS'
  | 'ABORTED'

/**
 * Aldis could not send the request: it waited for a connection until its time was over, or it could not be made. That says
 * nothing about its destination.
 */
export const UNSENT_ERRORS: ReadonlySet<string> = new Set<DeliveryErrorName>([
  'QUEUE_FULL',
  'QUEUE_TIMEOUT',
  'INVALID_REQUEST',
])

/** A failed dial. */
export class DialError extends Error {
  readonly code: DialErrorName

  constructor(code: DialErrorName) {
    super(code)
    this.name = 'DialError'
    this.code = code
  }
}

const UNREACHABLE = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EHOSTDOWN',
  'ENETDOWN',
])

/** Names an error from before the connection was made. `certificateFault` is OpenSSL's verdict on the certificate. */
export function dialErrorOf(error: Error, phase: 'tcp' | 'tls', certificateFault: string | null): DialError {
  if (error instanceof DialError) return error
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') return new DialError('CONNECT_REFUSED')
  if (code === 'ETIMEDOUT') return new DialError('CONNECT_TIMEOUT')
  if (UNREACHABLE.has(code)) return new DialError('CONNECT_UNREACHABLE')
  if (phase === 'tcp') return new DialError('CONNECT_FAILED')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return new DialError('TLS_HOSTNAME_MISMATCH')
  if (certificateFault === null) return new DialError('TLS_HANDSHAKE')
  const expired = certificateFault === 'CERT_HAS_EXPIRED' || certificateFault === 'CERT_NOT_YET_VALID'
  return new DialError(expired ? 'TLS_CERTIFICATE_EXPIRED' : 'TLS_CERTIFICATE_UNTRUSTED')
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
