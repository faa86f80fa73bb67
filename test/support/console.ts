import { randomBytes } from 'node:crypto'
import { deriveKey } from '../../src/domain/secrets.ts'
import { ConsoleSessions } from '../../src/http/console-sessions.ts'

/** Sessions of a node with a key of its own. */
export function consoleSessions(clock: () => number = Date.now): ConsoleSessions {
  return new ConsoleSessions({ keys: deriveKey(randomBytes(32), 'sessions'), random: randomBytes, clock })
}

/** What a browser says of a request that a page of the same origin makes. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }
