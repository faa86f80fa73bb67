/** Facts that tests of the journal's writer know by a name, which is the error code. */

import { decodeEntry } from '../../src/domain/journal/entries.ts'
import type { JournalFact } from '../../src/domain/journal/message-facts.ts'
import { JournalWriter, type JournalWriterOptions } from '../../src/services/journal/journal-writer.ts'
import type { Database } from '../../src/store/database.ts'
import { readEntries } from '../../src/store/journal.ts'
import { newId } from './installation.ts'
import { quietLog } from './log.ts'

export interface NamedFact extends JournalFact {
  readonly name: string
  readonly retractable: boolean
}

export function namedFact(name: string, retractable = false): NamedFact {
  return { name, retractable, msgId: newId(Date.now()), fact: { kind: 'overdue', atMs: 1, errorCode: name } }
}

/** A writer without a lane so far, and what it tells, in one list. */
export function aToldWriter(
  options: Pick<JournalWriterOptions<NamedFact>, 'db'> & Partial<JournalWriterOptions<NamedFact>>,
) {
  const told: string[] = []
  const tell = (what: string) => (items: readonly NamedFact[], more?: number | boolean) =>
    void (
      items.length > 0 && told.push(`${what} ${items.map(({ name }) => name).join()} ${more ?? ''}`.trim())
    )
  const writer = new JournalWriter<NamedFact>({
    onCommitted: tell('committed'),
    isAwaited: () => true,
    isRetractable: ({ retractable }) => retractable,
    onRetracted: tell('retracted'),
    onLost: tell('lost'),
    mayStore: () => true,
    log: quietLog,
    onFailed: () => undefined,
    appends: options.db,
    ...options,
  })
  return { writer, told }
}

/** The names in the lane, entry by entry; of an empty group ''. */
export async function writtenNames(db: Database, lane: number): Promise<string[]> {
  const entries: Awaited<ReturnType<typeof readEntries>> = []
  for (let isMore = true; isMore; ) {
    const page = await readEntries(db, lane, entries.at(-1)?.n ?? 0, 100)
    isMore = page.length > 0
    entries.push(...page)
  }
  return entries.map(({ data }) =>
    decodeEntry(data)
      .map((entry) => ('errorCode' in entry.fact ? entry.fact.errorCode : entry.fact.kind))
      .join(),
  )
}
