import { openSecret, SecretError, type SecretKeys, sealSecret } from './secrets.ts'

/** Whose token a session of the console stands for. A browser may have one of each. */
export const SESSION_KINDS = ['customer', 'operator'] as const
export type SessionKind = (typeof SESSION_KINDS)[number]

/** All that a session is: nothing of it is stored in the service, so it ends with its token or its time. */
export interface ConsoleSession {
  /** SHA-256, lower-case hex, of the token that stands behind it. */
  readonly tokenHash: string
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

export const SESSION_MS = 12 * 60 * 60 * 1_000
/** A sealed session has 200 characters. */
const MAX_LENGTH = 512

/** Seals a session, so that nobody can read it, change it or use it as one of another kind. `iv`: 12 fresh bytes. */
export function sealSession(
  kind: SessionKind,
  session: ConsoleSession,
  keys: SecretKeys,
  iv: Uint8Array,
): string {
  return sealSecret(keys, JSON.stringify(session), iv, contextOf(kind))
}

/** Null when the text was not sealed with one of the keys, was changed, is of another kind, or has expired. */
export function openSession(
  kind: SessionKind,
  text: string,
  keys: SecretKeys,
  nowMs: number,
): ConsoleSession | null {
  if (text.length > MAX_LENGTH) return null
  try {
    const session = JSON.parse(openSecret(keys, text, contextOf(kind))) as ConsoleSession
    return session.expiresAtMs > nowMs ? session : null
  } catch (error) {
    if (error instanceof SecretError) return null
    throw error
  }
}

function contextOf(kind: SessionKind): string {
  return `console session ${kind}`
}
