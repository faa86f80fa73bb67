/** Message ids of carriers, which often write one id differently in submit_sm_resp and in the receipt. */

/**
 * - exact: as given, without surrounding space
 * - normalised: also without case and leading zeros
 * - decimal-hex: receipts say it in decimal, submit_sm_resp in hexadecimal (the usual mismatch)
 * - hex-decimal: receipts say it in hexadecimal, submit_sm_resp in decimal
 */
export const ID_RULES = ['exact', 'normalised', 'decimal-hex', 'hex-decimal'] as const
export type IdRule = (typeof ID_RULES)[number]

/** Where an id comes from. Needed because "16" in decimal and "16" in hexadecimal are two messages of one carrier. */
export type IdSource = 'submit' | 'receipt'

/** The rule by which ids of receipts are translated; `auto` until one is learned, when an id may be any of its spellings. */
export type RuleInForce = IdRule | 'auto'

const RULES_IN_FORCE: readonly RuleInForce[] = [...ID_RULES, 'auto']

interface RuleSettings {
  readonly idRule: IdRule | 'auto'
  readonly learnedIdRule: IdRule | null
}

/** The rule in force for a carrier. Until `auto` has learned one, ids are stored normalised. */
export function idRuleOf(carrier: RuleSettings): IdRule {
  return carrier.idRule === 'auto' ? (carrier.learnedIdRule ?? 'normalised') : carrier.idRule
}

export function ruleInForce(carrier: RuleSettings): RuleInForce {
  return carrier.idRule === 'auto' ? (carrier.learnedIdRule ?? 'auto') : carrier.idRule
}

/** Rules under which the id of a parked receipt may have been translated before this one was in force. */
export function rulesBefore(rule: RuleInForce): RuleInForce[] {
  return RULES_IN_FORCE.filter((other) => other !== rule)
}

/** `auto` with nothing learned yet: a receipt's id may be any of its `spellings`. */
export function isUnlearned(carrier: RuleSettings): boolean {
  return ruleInForce(carrier) === 'auto'
}

/** message_id has at most 64 characters (SMPP 3.4 §5.2.23). This also bounds the arithmetic and the index. */
const MAX_LENGTH = 64

/**
 * The form in which an id is stored and looked up: the normalised spelling of submit_sm_resp (under `exact`, the id
 * unchanged). So what is stored does not depend on what is learned about receipts later. An id of a receipt is translated
 * into this form. An id that is not a number of the rule's kind is only normalised.
 */
export function canonicalId(id: string, rule: IdRule, source: IdSource): string {
  // Receipts are read word by word, so space around the id of a response is never part of it.
  const bounded = id.trim().slice(0, MAX_LENGTH)
  if (rule === 'exact') return bounded
  const normalised = withoutLeadingZeros(bounded.toLowerCase())
  if (source === 'submit' || rule === 'normalised') return normalised
  return (rule === 'decimal-hex' ? decimalToHex(normalised) : hexToDecimal(normalised)) ?? normalised
}

/** The normalised id and what each rule would make of it on the other side. These are looked up while no rule is learned. */
export function spellings(normalised: string): string[] {
  const others = [decimalToHex(normalised), hexToDecimal(normalised)]
  return [...new Set([normalised, ...others.filter((other) => other !== null)])]
}

/**
 * Every form in which the submission of a receipt's id may be stored under this rule. If `exact` was in force when the
 * message was submitted, its id was stored as the carrier wrote it, perhaps in hexadecimal capitals.
 */
export function storedForms(receipted: string, rule: RuleInForce): string[] {
  const translated =
    rule === 'auto'
      ? spellings(canonicalId(receipted, 'normalised', 'receipt'))
      : [canonicalId(receipted, rule, 'receipt')]
  return [
    ...new Set([
      ...translated,
      ...translated.map((id) => id.toUpperCase()),
      canonicalId(receipted, 'exact', 'receipt'),
    ]),
  ]
}

/**
 * The only rule under which these two normalised ids are equal; null when there are several (7 is 7 in both) or none. An
 * id that both sides write alike, and that is not a one-digit number, can only be `normalised`.
 */
export function ruleTold(submitted: string, receipted: string): IdRule | null {
  const fitting: IdRule[] = []
  if (submitted === receipted) fitting.push('normalised')
  if (submitted === decimalToHex(receipted)) fitting.push('decimal-hex')
  if (submitted === hexToDecimal(receipted)) fitting.push('hex-decimal')
  return fitting.length === 1 ? fitting[0]! : null
}

/** What matches have shown of a carrier's rule so far. */
export interface RuleEvidence {
  readonly rule: IdRule
  /** The messages whose receipts showed it; each message counts once. */
  readonly msgIds: readonly string[]
}

/** Messages that must agree before a rule counts as learned. */
export const ENOUGH_MATCHES = 3

/** Adds a match. One that contradicts the earlier ones restarts the count. */
export function withMatch(evidence: RuleEvidence | undefined, rule: IdRule, msgId: string): RuleEvidence {
  if (evidence?.rule !== rule) return { rule, msgIds: [msgId] }
  return evidence.msgIds.includes(msgId) ? evidence : { rule, msgIds: [...evidence.msgIds, msgId] }
}

function decimalToHex(id: string): string | null {
  return /^\d+$/.test(id) ? BigInt(id).toString(16) : null
}

function hexToDecimal(id: string): string | null {
  return /^[0-9a-f]+$/.test(id) ? BigInt(`0x${id}`).toString(10) : null
}

/** "0" keeps its zero. */
function withoutLeadingZeros(id: string): string {
  let start = 0
  while (start < id.length - 1 && id[start] === '0') start += 1
  return id.slice(start)
}

/** The forms in which an id may be stored, under any rule that its carrier has or had, from an answer or a receipt. */
export function everyForm(carrierMessageId: string): string[] {
  const sources = ['submit', 'receipt'] as const
  const forms = ID_RULES.flatMap((rule: IdRule) =>
    sources.map((source) => canonicalId(carrierMessageId, rule, source)),
  )
  return [...new Set(forms)]
}
