import type { Role } from './commands.ts'
import { DEFAULT_FRAME_LIMIT } from './framer.ts'
import type { BindInput } from './pdu.ts'

/** How long a request waits for its response, by default. */
export const RESPONSE_TIMEOUT_MS = 60_000

/** Settings of a session; everything has a default, times are in milliseconds. */
export interface SessionOptions {
  /** ESME only: sent as soon as the transport is open. `interface_version` is 0x34 unless given. */
  readonly bind?: BindInput
  /** Most requests of ours without a response. Default 10. */
  readonly windowSize?: number
  /** Default 60,000. A request without a response is then reported by `onTimeout`. Also the longest stall. */
  readonly responseTimeoutMs?: number
  /** From the open transport to the completed bind. Default 10,000. */
  readonly bindTimeoutMs?: number
  /** Silence before an enquire_link (default 30,000) and time for its answer (default 10,000). */
  readonly enquireLinkIntervalMs?: number
  readonly enquireLinkTimeoutMs?: number
  /** Silence after an answer of ours before an enquire_link asks whether it arrived. Default Infinity: never. */
  readonly confirmAnswersMs?: number
  /** From the first octet of a PDU to its last. Default 10,000. */
  readonly pduReadTimeoutMs?: number
  /** How long an unbind waits for requests in flight, unless told otherwise, then for unbind_resp. Default 5,000 each. */
  readonly unbindTimeoutMs?: number
  /** Most unanswered requests of the peer; above it, reading pauses. Default 1,000. */
  readonly inboundLimit?: number
  /** Timed-out requests remembered for a late response: default 10,000, for 300,000. */
  readonly lateLimit?: number
  readonly lateTtlMs?: number
  /** Highest command_length accepted, octets. Default 65,552. */
  readonly frameLimit?: number
  /** Our first request carries the next number. Default 0. */
  readonly initialSequence?: number
}

export type SessionSettings = Required<Omit<SessionOptions, 'bind'>> & {
  readonly role: Role
  readonly bind: BindInput | null
  /** How long reading may stay paused, be it for unwritten output or for unanswered requests of the peer. */
  readonly stallTimeoutMs: number
}

/** The options with every default filled in. */
export function sessionSettings(role: Role, options: SessionOptions): SessionSettings {
  const responseTimeoutMs = options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS
  return {
    role,
    bind: options.bind ?? null,
    windowSize: options.windowSize ?? 10,
    responseTimeoutMs,
    stallTimeoutMs: responseTimeoutMs,
    bindTimeoutMs: options.bindTimeoutMs ?? 10_000,
    enquireLinkIntervalMs: options.enquireLinkIntervalMs ?? 30_000,
    enquireLinkTimeoutMs: options.enquireLinkTimeoutMs ?? 10_000,
    confirmAnswersMs: options.confirmAnswersMs ?? Number.POSITIVE_INFINITY,
    pduReadTimeoutMs: options.pduReadTimeoutMs ?? 10_000,
    unbindTimeoutMs: options.unbindTimeoutMs ?? 5_000,
    inboundLimit: options.inboundLimit ?? 1_000,
    lateLimit: options.lateLimit ?? 10_000,
    lateTtlMs: options.lateTtlMs ?? 300_000,
    frameLimit: options.frameLimit ?? DEFAULT_FRAME_LIMIT,
    initialSequence: options.initialSequence ?? 0,
  }
}
