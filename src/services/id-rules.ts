import {
  canonicalId,
  ENOUGH_MATCHES,
  type IdRule,
  idRuleOf,
  isUnlearned,
  type RuleEvidence,
  ruleTold,
  spellings,
  withMatch,
} from '../domain/carrier-message-ids.ts'
import type { Carrier } from '../domain/configuration.ts'
import type { Directory } from '../domain/directory.ts'
import { learnIdRule } from '../store/carriers.ts'
import type { Database } from '../store/database.ts'
import {
  type Candidate,
  findCandidates,
  findUnreadReceipts,
  readParkedReceipts,
} from '../store/parked-receipts.ts'
import type { ReceiptRow } from '../store/receipts.ts'

export interface IdRulesOptions {
  readonly db: Database
  readonly directory: () => Directory
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** A carrier's rule is known from now on. */
  readonly onLearned: (carrier: Carrier, rule: IdRule) => void
}

/** Receipts read at once. */
const BATCH = 500
/** How long a receipt of an unlearned carrier is looked at again although no submission of this node asks for it. */
const RECENT_MS = 120_000

/**
 * Reads receipts of carriers whose id rule is `auto` and not learned yet: each is looked up under every spelling its id
 * may have, and what is found tells the rule. Rules that messages have agreed on are stored, for all nodes.
 */
export class IdRules {
  readonly #options: IdRulesOptions
  readonly #evidence = new Map<number, RuleEvidence>()

  constructor(options: IdRulesOptions) {
    this.#options = options
  }

  /** The ids under which receipts of this submission may be parked. */
  parkedUnder(submission: { carrier_id: number; carrier_message_id: string }): {
    carrier_id: number
    carrier_message_id: string
  }[] {
    const { carrier_id, carrier_message_id } = submission
    const carrier = this.#options.directory().carrierById(carrier_id)
    // Spelling works both ways: what a receipt may mean by a submission's id is what that id may be in a receipt.
    const ids = carrier && isUnlearned(carrier) ? spellings(carrier_message_id) : [carrier_message_id]
    return ids.map((id) => ({ carrier_id, carrier_message_id: id }))
  }

  /** The same receipts; the unread ones that can only be of one message have its id now. */
  async read(receipts: readonly ReceiptRow[]): Promise<readonly ReceiptRow[]> {
    if (!receipts.some(({ unread }) => unread)) return receipts
    const { db } = this.#options
    const asked = receipts.flatMap(({ unread, carrier_id, carrier_message_id, addresses }, place) =>
      (unread ? spellings(carrier_message_id) : []).map((id) => ({
        place,
        carrier_id,
        carrier_message_id: id,
        addresses,
      })),
    )
    const candidates = Map.groupBy(await findCandidates(db, asked), ({ place }) => place)
    const found = receipts.map((_, place) => onlyOne(candidates.get(place) ?? []))
    await this.#unpark(receipts, (_, place) => found[place]?.carrierMessageId ?? null)
    await this.#learn(receipts, found)
    return receipts.map((receipt, place) => {
      const match = found[place]
      return match ? { ...receipt, carrier_message_id: match.carrierMessageId, unread: false } : receipt
    })
  }

  /** Parked receipts to look at again: read under a rule that is known by now, or recent ones of unlearned carriers. */
  async readParked(): Promise<{ receipts: readonly ReceiptRow[]; more: boolean }> {
    const { db, directory, nowMs } = this.#options
    const carriers = directory().contents.carriers
    const learned = carriers.filter((carrier) => !isUnlearned(carrier)).map(({ id }) => id)
    const readable = await findUnreadReceipts(db, {
      carrierIds: learned,
      since: new Date(0).toISOString(),
      limit: BATCH,
    })
    const readAs = ({ carrier_id, carrier_message_id }: ReceiptRow) =>
      canonicalId(carrier_message_id, idRuleOf(directory().carrierById(carrier_id)!), 'receipt')
    await this.#unpark(readable, readAs)
    const read = readable.map((row) => ({ ...row, carrier_message_id: readAs(row), unread: false }))
    const more = readable.length === BATCH
    if (more || learned.length === carriers.length) return { receipts: read, more }
    const recent = await findUnreadReceipts(db, {
      carrierIds: carriers.filter(isUnlearned).map(({ id }) => id),
      since: new Date(nowMs() - RECENT_MS).toISOString(),
      limit: BATCH,
    })
    return { receipts: [...read, ...recent], more }
  }

  /** Parked ones get the id they are read as, so that they end where they are parked once they are applied. */
  async #unpark(
    receipts: readonly ReceiptRow[],
    readAs: (receipt: ReceiptRow, place: number) => string | null,
  ): Promise<void> {
    const rows = receipts.flatMap((receipt, place) => {
      const { carrier_id, carrier_message_id, parked_id, unread } = receipt
      const read_as = unread && parked_id !== null ? readAs(receipt, place) : null
      return read_as === null || parked_id === null
        ? []
        : [{ carrier_id, carrier_message_id, parked_id, read_as }]
    })
    if (rows.length > 0) await readParkedReceipts(this.#options.db, rows)
  }

  async #learn(receipts: readonly ReceiptRow[], found: readonly (Candidate | null)[]): Promise<void> {
    const { db, directory, onLearned } = this.#options
    for (const [place, match] of found.entries()) {
      const { carrier_id, carrier_message_id } = receipts[place]!
      const rule = match && ruleTold(match.carrierMessageId, carrier_message_id)
      if (!rule) continue
      const evidence = withMatch(this.#evidence.get(carrier_id), rule, match.msgId)
      this.#evidence.set(carrier_id, evidence)
      if (evidence.msgIds.length < ENOUGH_MATCHES) continue
      this.#evidence.delete(carrier_id)
      const carrier = directory().carrierById(carrier_id)
      if (carrier && (await learnIdRule(db, carrier_id, rule))) onLearned(carrier, rule)
    }
  }
}

/** Null when there is none, or more than one. Where some went to an address of the receipt, the others do not count. */
function onlyOne(candidates: readonly Candidate[]): Candidate | null {
  const fitting = candidates.filter(({ fits }) => fits)
  const left = fitting.length > 0 ? fitting : candidates
  return left.length === 1 ? left[0]! : null
}
