import type { BindPdu, BindRespPdu, Pdu, RequestPdu, ResponsePdu } from './pdu.ts'

/** Why a session ended; `status` of a rejected bind, `error` of a failed socket or handler. */
export interface CloseReason {
  readonly code: CloseCode
  readonly status?: number
  readonly error?: Error
}

type CloseCode =
  | 'local'
  | 'connect_failed'
  | 'connect_timeout'
  | 'bind_rejected'
  | 'bind_timeout'
  | 'enquire_link_timeout'
  | 'pdu_read_timeout'
  | 'frame_error'
  | 'write_timeout'
  | 'inbound_stalled'
  | 'unbound'
  | 'unbind_timeout'
  | 'peer_unbound'
  | 'peer_closed'
  | 'socket_error'
  | 'handler_error'
  /** Set by the application: the peer answers no submit_sm. */
  | 'submits_unanswered'

/** What a peer may do wrong without ending the session (only `frame_error` ends it). All are counted. */
export type Anomaly =
  | 'unknown_command'
  | 'malformed_pdu'
  /** A string longer than SMPP 3.4 allows. An ESME accepts it, an SMSC refuses it. */
  | 'overlong_string'
  | 'unexpected_command'
  /** A deliver_sm or data_sm over a transmitter session: accepted. */
  | 'wrong_bind'
  | 'unmatched_response'
  | 'late_response'
  | 'truncated_tlv'
  | 'outbind'
  | 'frame_error'

/**
 * What a session reports, synchronously while it works; all optional. A handler may call back into the session or
 * connection. `Token` is whatever the caller gave with the request.
 */
export interface SessionHandlers<Token> {
  /** ESME: the bind was accepted. A rejected bind ends the session with `bind_rejected`. */
  onBound?(pdu: BindRespPdu): void
  /** SMSC: answer with `respond(pdu, status, { system_id })`; ESME_ROK makes the session bound. */
  onBind?(pdu: BindPdu): void
  /**
   * A request of the peer that its state allows (deliver_sm, submit_sm, data_sm ...): answer every one with
   * `respond`, in any order. alert_notification comes here too and takes no answer.
   */
  onRequest?(pdu: RequestPdu): void
  /** The answer to a request, `latencyMs` after it. It may be a generic_nack, see ResponsePdu. */
  onResponse?(token: Token, pdu: ResponsePdu, latencyMs: number): void
  /** No answer within responseTimeoutMs: whether the peer acted is not known. Its window slot is free again. */
  onTimeout?(token: Token): void
  /** The answer to a request already reported by `onTimeout`. */
  onLateResponse?(token: Token, pdu: ResponsePdu): void
  onAnomaly?(anomaly: Anomaly, pdu: Pdu | null): void
  /** Once, at the end: `unanswered` are the tokens of requests whose outcome is not known, in order of sending. */
  onClose?(reason: CloseReason, unanswered: Token[]): void
}
