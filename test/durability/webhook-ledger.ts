/** What a receiver of webhooks wrote down, and what it proves. */
import { readFileSync } from 'node:fs'

/** `event`: the webhook-id, `{msgId}-{seq}`. */
export type LedgerLine = { readonly atMs: number; readonly event: string; readonly attempt: number } & (
  | { readonly kind: 'began'; readonly body: string }
  | { readonly kind: 'answered'; readonly ok: boolean }
)

export function readLedger(path: string): LedgerLine[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line) as LedgerLine)
}

const msgIdOf = (event: string) => event.slice(0, event.lastIndexOf('-'))
const seqOf = (event: string) => Number(event.slice(event.lastIndexOf('-') + 1))

/** Events that were accepted. */
export function acceptedEvents(ledger: readonly LedgerLine[]): Set<string> {
  return new Set(ledger.flatMap((line) => (line.kind === 'answered' && line.ok ? [line.event] : [])))
}

/** Events that came with more than one body, or whose attempts were counted backwards. */
export function changedEvents(ledger: readonly LedgerLine[]): string[] {
  const first = new Map<string, { body: string; attempt: number }>()
  const changed = new Set<string>()
  for (const line of ledger) {
    if (line.kind !== 'began') continue
    const known = first.get(line.event)
    if (known !== undefined && (known.body !== line.body || known.attempt > line.attempt))
      changed.add(line.event)
    first.set(line.event, line)
  }
  return [...changed]
}

/** Events that came before an earlier one of their message had been accepted, or again after a later one. */
export function disorderedEvents(ledger: readonly LedgerLine[]): string[] {
  const begun = new Map<string, number>()
  const accepted = new Set<string>()
  const disordered: string[] = []
  for (const line of ledger) {
    const [msgId, seq] = [msgIdOf(line.event), seqOf(line.event)]
    if (line.kind === 'answered') {
      if (line.ok) accepted.add(line.event)
      continue
    }
    const isEarly = seq > 1 && !accepted.has(`${msgId}-${seq - 1}`)
    if (isEarly || seq < (begun.get(msgId) ?? 0)) disordered.push(line.event)
    begun.set(msgId, seq)
  }
  return disordered
}

/** An event that came again although it had been accepted. */
export interface Repetition {
  readonly event: string
  readonly acceptedMs: number
  readonly againMs: number
}

export function repetitions(ledger: readonly LedgerLine[]): Repetition[] {
  const accepted = new Map<string, number>()
  const repeated: Repetition[] = []
  for (const { event, atMs, ...line } of ledger) {
    const acceptedMs = accepted.get(event)
    if (line.kind === 'began' && acceptedMs !== undefined) repeated.push({ event, acceptedMs, againMs: atMs })
    if (line.kind === 'answered' && line.ok) accepted.set(event, atMs)
  }
  return repeated
}
