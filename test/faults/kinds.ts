/** Every kind of fault, by name. */
import { CARRIER_KINDS } from './carrier-kinds.ts'
import { CITUS_KINDS } from './citus-kinds.ts'
import { CLOCK_KINDS } from './clock-kinds.ts'
import { DATABASE_KINDS } from './database-kinds.ts'
import { JOURNAL_KINDS } from './journal-kinds.ts'
import type { Kind } from './kind.ts'
import { PROCESS_KINDS } from './process-kinds.ts'
import { RECEIVER_KINDS } from './receiver-kinds.ts'

export const KINDS: readonly Kind[] = [
  ...PROCESS_KINDS,
  ...DATABASE_KINDS,
  ...JOURNAL_KINDS,
  ...CARRIER_KINDS,
  ...RECEIVER_KINDS,
  ...CLOCK_KINDS,
  ...CITUS_KINDS,
]

/** @throws Error when no kind has the name */
export function kindsNamed(names: readonly string[]): Kind[] {
  return names.map((name) => {
    const kind = KINDS.find((candidate) => candidate.name === name)
    if (kind === undefined) throw new Error(`no kind of fault is named ${name}: see --list`)
    return kind
  })
}
