import {
  canonicalId,
  ENOUGH_MATCHES,
  idRuleOf,
  isUnlearned,
  type RuleEvidence,
  ruleInForce,
  rulesBefore,
  ruleTold,
  spellings,
  storedForms,
  withMatch,
} from '../../domain/carriers/message-ids.ts'
import { createdAtMs } from '../../domain/identifiers.ts'
import type { IncomingReceipt } from '../../domain/journal/incoming-receipts.ts'
import { learnIdRule } from '../../store/carriers.ts'
import {
  type Candidate,
  findCandidates,
  findReceiptsTranslatedUnder,
  storeTranslations,
  type Translation,
} from '../../store/parked-receipts.ts'
import type { SubmissionId } from '../../store/receipt-matches.ts'
import type { NodeParts } from '../loops/node-parts.ts'

export interface IdRulesOptions extends NodeParts {
  /** No other node has messages in memory. */
  readonly isAlone: () => boolean
  /** Parked receipts read at once. Default 500. */
  readonly batch?: number
}

const BATCH = 500
/**
 * How long a receipt waits for the records of other nodes. Until then one of them may have its message in memory, while a message
 * with another spelling of its id is recorded already.
 */
const UNRECORDED_MS = 5_000
/** How much newer than its receipt a message may seem: nodes know the time to some milliseconds. */
const SKEW_MS = 1_000
/** How long a receipt of a carrier whose rule is not learned is retried, even if no submission of this node asks for it. */
const RECENT_MS = 120_000

/**
 * Translates the ids of receipts whose carrier has the id rule `auto` and none learned yet. Each receipt is looked up under every
 * spelling its id may have, and a match tells the rule. A rule that enough messages agree on is stored, for all nodes.
 */
export class IdRules {
  readonly #options: IdRulesOptions
  readonly #evidence = new Map<number, RuleEvidence>()

  constructor(options: IdRulesOptions) {
    this.#options = options
  }

  /** The ids under which receipts of this submission may be parked. */
  parkedUnder({ carrierId, carrierMessageId }: SubmissionId): SubmissionId[] {
    const carrier = this.#options.directory().carrierById(carrierId)
    // Spelling works both ways: the ids that a receipt's id may stand for are also the ids that may stand for it in a receipt.
    const ids = carrier && isUnlearned(carrier) ? spellings(carrierMessageId) : [carrierMessageId]
    return ids.map((id) => ({ carrierId, carrierMessageId: id }))
  }

  /**
   * Returns the receipts, with untranslated ids translated where only one is possible. With several nodes this is known only of
   * receipts that are some seconds old.
   */
  async translate(receipts: readonly IncomingReceipt[]): Promise<readonly IncomingReceipt[]> {
    if (!receipts.some(({ untranslated }) => untranslated)) return receipts
    const found = await this.#matches(receipts, (row) => row.untranslated && !this.#isTooEarly(row))
    const translated = receipts.map((receipt, index) => {
      const match = found[index]
      return match ? { ...receipt, carrierMessageId: match.carrierMessageId, untranslated: false } : receipt
    })
    await this.#keep(receipts, translated)
    await this.#learn(receipts, found)
    return translated
  }

  #isTooEarly(row: IncomingReceipt): boolean {
    const { clock, isAlone } = this.#options
    return isAmbiguous(row) && !isAlone() && clock() - Date.parse(row.receivedAt) < UNRECORDED_MS
  }

  /**
   * Returns parked receipts to look at again: those translated under another rule than the current one, which was learned or set
   * since, and recent ones of carriers whose rule is not learned.
   */
  async translateParked(): Promise<{ receipts: readonly IncomingReceipt[]; more: boolean }> {
    const { db, directory, clock, batch: limit = BATCH } = this.#options
    const carriers = directory().contents.carriers
    const outdated = carriers.map((carrier) => ({
      carrierId: carrier.id,
      idRules: rulesBefore(ruleInForce(carrier)),
    }))
    const stale = await findReceiptsTranslatedUnder(db, outdated, {
      since: new Date(0).toISOString(),
      limit,
    })
    const translated = await this.#retranslate(stale)
    const more = stale.length === limit
    const unlearned = carriers.filter(isUnlearned)
    if (more || unlearned.length === 0) return { receipts: translated, more }
    const recent = await findReceiptsTranslatedUnder(
      db,
      unlearned.map(({ id }) => ({ carrierId: id, idRules: ['auto'] })),
      { since: new Date(clock() - RECENT_MS).toISOString(), limit },
    )
    return { receipts: [...translated, ...recent], more }
  }

  /** Translates ids under the current rule. If that is not learned, they are untranslated again, for `translate` to look up. */
  async #retranslate(stale: readonly IncomingReceipt[]): Promise<readonly IncomingReceipt[]> {
    if (stale.length === 0) return stale
    const { directory } = this.#options
    const asked = stale.map((row) => {
      const carrier = directory().carrierById(row.carrierId)!
      const carrierMessageId = canonicalId(idAsReceived(row), idRuleOf(carrier), 'receipt')
      return {
        ...row,
        carrierMessageId,
        idRule: ruleInForce(carrier),
        untranslated: isUnlearned(carrier),
      }
    })
    const found = await this.#matches(asked, ({ untranslated }) => !untranslated)
    const translated = asked.map((row, index) => {
      const match = found[index]
      return match ? { ...row, carrierMessageId: match.carrierMessageId } : row
    })
    await this.#keep(stale, translated)
    return translated
  }

  /**
   * Returns for each receipt a message with the only id that it can mean, or null. An id that can be read in several ways
   * means no message that is newer than its receipt.
   */
  async #matches(
    receipts: readonly IncomingReceipt[],
    isAsked: (receipt: IncomingReceipt) => boolean,
  ): Promise<readonly (Candidate | null)[]> {
    const asked = receipts.flatMap((row, index) => {
      const { carrierId, addresses, idRule } = row
      return (isAsked(row) ? storedForms(idAsReceived(row), idRule) : []).map((carrierMessageId) => ({
        index,
        carrierId,
        carrierMessageId,
        addresses,
      }))
    })
    const found = await findCandidates(this.#options.db, asked)
    const possible = found.filter(({ index, msgId }) => {
      const receipt = receipts[index]!
      return !isAmbiguous(receipt) || createdAtMs(msgId) <= Date.parse(receipt.receivedAt) + SKEW_MS
    })
    const candidates = Map.groupBy(possible, ({ index }) => index)
    return receipts.map((_, index) => theOne(candidates.get(index) ?? []))
  }

  /** Stores in each parked receipt its id as it is now translated, so that it is found and removed once it is applied. */
  async #keep(before: readonly IncomingReceipt[], translated: readonly IncomingReceipt[]): Promise<void> {
    const translations = translated.flatMap(
      ({ carrierMessageId: translatedId, idRule, untranslated }, index): Translation[] => {
        const { carrierId, carrierMessageId, parkedId, idRule: earlier } = before[index]!
        const isChanged =
          translatedId !== carrierMessageId ||
          idRule !== earlier ||
          untranslated !== before[index]!.untranslated
        return parkedId === null || !isChanged
          ? []
          : [{ carrierId, carrierMessageId, parkedId, translatedId, idRule, untranslated }]
      },
    )
    if (translations.length > 0) await storeTranslations(this.#options.db, translations)
  }

  async #learn(receipts: readonly IncomingReceipt[], found: readonly (Candidate | null)[]): Promise<void> {
    const { db, directory, log } = this.#options
    for (const [index, match] of found.entries()) {
      const { carrierId, carrierMessageId } = receipts[index]!
      const rule =
        match && ruleTold(canonicalId(match.carrierMessageId, 'normalised', 'submit'), carrierMessageId)
      if (!rule) continue
      const evidence = withMatch(this.#evidence.get(carrierId), rule, match.msgId)
      this.#evidence.set(carrierId, evidence)
      if (evidence.msgIds.length < ENOUGH_MATCHES) continue
      this.#evidence.delete(carrierId)
      const carrier = directory().carrierById(carrierId)
      if (carrier && (await learnIdRule(db, carrierId, rule)))
        log.info({ carrier: carrier.name, idRule: rule }, 'id rule learned from receipts')
    }
  }
}

/**
 * Returns the newest candidate if all have the same id, otherwise null. Which of the messages with that id the receipt belongs
 * to is decided later, as for any other receipt. If some candidates were sent to an address of the receipt, only those count.
 */
function theOne(candidates: readonly Candidate[]): Candidate | null {
  const fitting = candidates.filter(({ fits }) => fits)
  const left = fitting.length > 0 ? fitting : candidates
  const isOneId = left.every(({ carrierMessageId }) => carrierMessageId === left[0]!.carrierMessageId)
  return isOneId ? (left[0] ?? null) : null
}

/** The id may be decimal or hexadecimal. */
function isAmbiguous(receipt: IncomingReceipt): boolean {
  const id = canonicalId(idAsReceived(receipt), 'normalised', 'receipt')
  return receipt.idRule === 'auto' && spellings(id).length > 1
}

function idAsReceived({ receiptedId, carrierMessageId }: IncomingReceipt): string {
  return receiptedId ?? carrierMessageId
}
