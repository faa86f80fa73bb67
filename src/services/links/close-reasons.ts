import type { LinkFailure } from '../../domain/carriers/binds.ts'
import type { CloseReason } from '../../smpp/session-handlers.ts'
import { STATUSES, statusName } from '../../smpp/statuses.ts'

/** What the end of a session means for the next one, and how it is reported. */

const UNAUTHORIZED: readonly number[] = [
  STATUSES.ESME_RINVPASWD,
  STATUSES.ESME_RINVSYSID,
  STATUSES.ESME_RINVSYSTYP,
]
/** How carriers end a session that they do not want. */
const CLOSED: readonly CloseReason['code'][] = ['peer_closed', 'socket_error', 'peer_unbound', 'frame_error']

/** Longest reason of a close that is shown. */
const MAX_REASON_CHARACTERS = 200

/** `isEarly`: the session was not bound yet, or had just been. */
export function failureOf(
  { code, status }: CloseReason,
  { isDoubtful, isEarly }: { isDoubtful: boolean; isEarly: boolean },
): LinkFailure {
  if (code === 'connect_failed' || code === 'connect_timeout') return 'unreached'
  if (code === 'bind_rejected') return UNAUTHORIZED.includes(status ?? 0) ? 'unauthorized' : 'refused'
  if (isDoubtful || code === 'unbound') return 'refused'
  return isEarly && CLOSED.includes(code) ? 'closed' : 'unreached'
}

/** The code and any detail: `bind_rejected: ESME_RINVPASWD`, `connect_failed: certificate has expired`. */
export function reasonText({ code, status, error }: CloseReason): string {
  const detail = status !== undefined ? statusName(status) : error && errorText(error)
  return detail ? `${code}: ${detail}`.slice(0, MAX_REASON_CHARACTERS) : code
}

/** The same in parts, for operators who look at a bind. */
export function closeError({ code, status, error }: CloseReason) {
  return {
    error: code,
    status: status === undefined ? null : statusName(status),
    detail: error === undefined ? null : errorText(error).slice(0, MAX_REASON_CHARACTERS),
  }
}

/** The message of an error. For a TLS error, also the setting that helps. */
export function errorText(error: Error & { code?: string }): string {
  const advice = tlsAdvice(error)
  const text = error.message || error.code || ''
  return advice === null ? text : `${text.slice(0, MAX_ERROR_CHARACTERS)}; ${advice}`
}

const MAX_ERROR_CHARACTERS = 100

const TLS_ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'name the certificate must have: --tls-server-name'],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|INVALID_CA/,
    "give its authority's certificate with --tls-ca",
  ],
  [
    /WRONG_VERSION_NUMBER|^ERR_SSL_PACKET_LENGTH/,
    'the carrier answers without TLS on this port: another --port, or --no-tls',
  ],
]

/** What an operator can set to cure a TLS error; null for any other error. */
export function tlsAdvice(error: (Error & { code?: string }) | undefined): string | null {
  const code = error?.code ?? ''
  return TLS_ADVICE.find(([pattern]) => pattern.test(code))?.[1] ?? null
}
