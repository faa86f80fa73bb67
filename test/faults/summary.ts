/** Summarises a run in figures, by kind of fault. Pure. */
import type { Exercised } from './exercise.ts'
import type { Finding, Rule } from './findings.ts'
import { faultAt, judge } from './judge.ts'
import { copiesOf } from './judge-submits.ts'
import { timeToAccept, timeToTakeOver } from './judge-times.ts'
import type { Kind } from './kind.ts'
import type { FaultEntry } from './ledgers.ts'

export interface KindFigures {
  faults: number
  accepted: number
  lost: number
  copies: number
  answered5xx: number
  findings: Partial<Record<Rule, number>>
  /** Of these, findings of rules that the service is known not to keep yet. */
  known: number
  readonly acceptMs: number[]
  readonly takeoverMs: number[]
}

export interface Summary {
  readonly nodes: number
  readonly seed: number
  readonly rate: number
  readonly seconds: number
  readonly accepted: number
  readonly unanswered: number
  readonly submits: number
  readonly inbound: number
  readonly webhooks: number
  readonly lookUps: number
  readonly isSettled: boolean
  readonly kinds: Record<string, KindFigures>
  /** Findings that are not known: each makes the run fail. */
  readonly unexpected: number
  readonly findings: readonly (Finding & { readonly kind: string; readonly isKnown: boolean })[]
}

/** The row for findings while no fault is near. */
const NO_FAULT = 'none'
/** Rules that a busy machine can break too. */
export const TIMES: ReadonlySet<Rule> = new Set(['slow-to-accept', 'slow-takeover'])
const LISTED_FINDINGS = 300
/**
 * A fault may cause findings up to this long before it (by acceptance) and after it. If the finding says since when its cause may
 * have been at work, the fault began before it was found.
 */
const KNOWN_BEFORE_MS = 15_000
const KNOWN_AFTER_MS = 75_000

export function summarise(
  { ledgers, accepted, seconds, isSettled }: Exercised,
  run: Pick<Summary, 'nodes' | 'seed' | 'rate'>,
  { kinds, areTimesJudged }: { kinds: readonly Kind[]; areTimesJudged: boolean },
): Summary {
  const figures: Record<string, KindFigures> = {}
  const { faults, load, submits } = ledgers
  const kindAt = (atMs: number) => faultAt(faults, atMs)?.kind ?? NO_FAULT
  const at = (atMs: number) => figuresOf(figures, kindAt(atMs))
  for (const fault of faults) {
    const own = figuresOf(figures, fault.kind)
    own.faults += 1
    const [acceptMs, takeoverMs] = [timeToAccept(ledgers, fault), timeToTakeOver(ledgers, fault)]
    if (acceptMs !== null) own.acceptMs.push(acceptMs)
    if (takeoverMs !== null) own.takeoverMs.push(takeoverMs)
  }
  let unanswered = 0
  for (const { answers } of load)
    for (const { status, answeredAtMs } of answers) {
      if (status === 202) at(answeredAtMs).accepted += 1
      else if (status === null) unanswered += 1
      else if (status >= 500) at(answeredAtMs).answered5xx += 1
    }
  for (const { submit } of copiesOf(submits)) at(submit.atMs).copies += 1
  const isKnown = knownBy(faults, kinds)
  const findings = judge(ledgers).map((finding) => {
    const kind = kindAt(finding.atMs)
    return {
      ...finding,
      atMs: Math.round(finding.atMs),
      kind,
      isKnown: isKnown(finding) || (!areTimesJudged && TIMES.has(finding.rule)),
    }
  })
  for (const { rule, kind, isKnown } of findings) {
    const own = figuresOf(figures, kind)
    own.findings[rule] = (own.findings[rule] ?? 0) + 1
    if (rule === 'lost') own.lost += 1
    if (isKnown) own.known += 1
  }
  return {
    ...run,
    seconds: Math.round(seconds),
    accepted,
    unanswered,
    submits: submits.length,
    inbound: ledgers.inbound.length,
    webhooks: ledgers.webhooks.length,
    lookUps: ledgers.lookUps.length,
    isSettled,
    kinds: figures,
    unexpected: findings.filter(({ isKnown }) => !isKnown).length,
    // Unexpected ones first.
    findings: findings
      .toSorted((one, other) => Number(one.isKnown) - Number(other.isKnown))
      .slice(0, LISTED_FINDINGS),
  }
}

/** Whether a finding breaks a rule that the service is known not to keep yet under a fault near it. */
function knownBy(faults: readonly FaultEntry[], kinds: readonly Kind[]): (finding: Finding) => boolean {
  const known = new Map(kinds.map(({ name, known: rules = [] }) => [name, new Set<Rule>(rules)]))
  return ({ rule, atMs, sinceMs }) => {
    const [fromMs, untilMs] = sinceMs === undefined ? [atMs, atMs + KNOWN_BEFORE_MS] : [sinceMs, atMs]
    return faults.some(
      ({ kind, begunMs, endMs }) =>
        begunMs <= untilMs && fromMs <= endMs + KNOWN_AFTER_MS && known.get(kind)!.has(rule),
    )
  }
}

function figuresOf(all: Record<string, KindFigures>, kind: string): KindFigures {
  all[kind] ??= {
    faults: 0,
    accepted: 0,
    lost: 0,
    copies: 0,
    answered5xx: 0,
    findings: {},
    known: 0,
    acceptMs: [],
    takeoverMs: [],
  }
  return all[kind]
}
