/** Message ids of carriers, which often write one id differently in submit_sm_resp and in the receipt. */

/**
 * - exact: as given, without surrounding space
 * - normalised: also without case and leading zeros
 * - decimal-hex: receipts say it in decimal, submit_sm_resp in hexadecimal (the usual mismatch)
 * - hex-decimal: receipts say it in hexadecimal, submit_sm_resp in decimal
 */
export type IdRule = 'exact' | 'normalised' | 'decimal-hex' | 'hex-decimal'

export const ID_RULES: readonly IdRule[] = ['exact', 'normalised', 'decimal-hex', 'hex-decimal']

/** Where an id was read. Needed because "16" in decimal and "16" in hexadecimal are two messages of one carrier. */
export type IdSource = 'submit' | 'receipt'

/** The rule in force for a carrier. Until `auto` has learned one, ids are compared normalised. */
export function idRuleOf(carrier: { idRule: IdRule | 'auto'; learnedIdRule: IdRule | null }): IdRule {
  return carrier.idRule === 'auto' ? (carrier.learnedIdRule ?? 'normalised') : carrier.idRule
}

/** message_id has at most 64 characters (SMPP 3.4 §5.2.23); also what bounds the number arithmetic and the index. */
const MAX_LENGTH = 64

/**
 * The form under which an id is stored and looked up: equal for the two spellings of one id. Under the two number rules
 * that is lower-case hexadecimal without leading zeros. An id that is no number is normalised; one with letters a-f is
 * hexadecimal wherever it was read.
 */
export function canonicalId(id: string, rule: IdRule, source: IdSource): string {
  // Receipts are read word by word, so space around the id of a response is never part of it.
  const bounded = id.trim().slice(0, MAX_LENGTH)
  if (rule === 'exact') return bounded
  const normalised = withoutLeadingZeros(bounded.toLowerCase())
  const decimalSource: IdSource | null =
    rule === 'decimal-hex' ? 'receipt' : rule === 'hex-decimal' ? 'submit' : null
  if (source !== decimalSource) return normalised
  return /^\d+$/.test(normalised) ? BigInt(normalised).toString(16) : normalised
}

/** "0" keeps its zero. */
function withoutLeadingZeros(id: string): string {
  let start = 0
  while (start < id.length - 1 && id[start] === '0') start += 1
  return id.slice(start)
}
