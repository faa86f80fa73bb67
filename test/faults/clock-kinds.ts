/** A node whose clock is wrong, by libfaketime. */
import { existsSync, globSync } from 'node:fs'
import type { Rule } from './findings.ts'
import type { Kind } from './kind.ts'

const LIBRARY = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0]

/** Nodes use their own time, not the database's: messages are too old for their carrier, or not due for a day. */
const KNOWN_OF_A_DAY: readonly Rule[] = ['wrong-status', 'unfinished', 'event-missing', 'event-unknown']

function clockOff(name: string, offset: string, summary: string, known: readonly Rule[] = []): Kind {
  return {
    name: `clock-${name}`,
    summary: `the clock of a node is ${summary}`,
    excuses: { repeats: true },
    known,
    holdMs: [10_000, 20_000],
    missing: () =>
      LIBRARY !== undefined && existsSync(LIBRARY) ? null : 'libfaketime is not installed (Debian: faketime)',
    async begin({ node }) {
      await node.terminate()
      // Timers use the monotonic clock, which cannot be set.
      await node.start({ LD_PRELOAD: LIBRARY, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' })
      return {
        async end() {
          await node.terminate()
          await node.start()
        },
      }
    },
  }
}

export const CLOCK_KINDS: readonly Kind[] = [
  clockOff('30s-ahead', '+30s', '30 s ahead'),
  clockOff('30s-behind', '-30s', '30 s behind'),
  clockOff('1h-ahead', '+1h', 'an hour ahead'),
  clockOff('1h-behind', '-1h', 'an hour behind'),
  clockOff('1d-ahead', '+1d', 'a day ahead', KNOWN_OF_A_DAY),
  clockOff('1d-behind', '-1d', 'a day behind', KNOWN_OF_A_DAY),
]
