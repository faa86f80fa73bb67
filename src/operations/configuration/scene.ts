import { randomBytes } from 'node:crypto'
import type { KindName, PresentObject } from '../../domain/configuration/configuration-changes.ts'
import { SANDBOX } from '../../domain/sandbox.ts'
import { IV_BYTES, orUnreadable, type SecretKeys } from '../../domain/secrets.ts'
import { type CallbackChecker, openCallbackUrl, sealCallbackUrl } from '../../domain/webhooks/callback-url.ts'
import { type Fault, fault, WHOLE_REQUEST } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import { reservedName } from '../manage/configuration-rows.ts'

/** The URL in plain text, or `unreadable`. */
export function openUrl(secretKey: SecretKeys, stored: string | null): string | null {
  return stored && orUnreadable(() => openCallbackUrl(secretKey, stored))
}

/** Kinds that objects of other kinds name. */
export type NamedKind = 'accounts' | 'carriers' | 'routes' | 'plans'
export const NAMED: ReadonlySet<KindName> = new Set(['accounts', 'carriers', 'routes', 'plans'])

export const NOUNS: Readonly<Record<NamedKind, string>> = {
  accounts: 'account',
  carriers: 'carrier',
  routes: 'route',
  plans: 'service plan',
}

/** What was found out about a change before its transaction, because it takes long. */
export interface Judged {
  /** The callback guard's objections, by URL. */
  readonly badUrls: ReadonlyMap<string, Fault>
  /** The hash of the password of each sendsms user. */
  readonly passwords: ReadonlyMap<string, string>
}

/** The callback guard's objections. Each URL may ask the name service. */
export async function judgeUrls(
  guard: CallbackChecker,
  urls: readonly string[],
): Promise<Map<string, Fault>> {
  const verdicts = await Promise.all(urls.map((url) => guard.check(url)))
  const bad = verdicts.flatMap((verdict, index): [string, Fault][] =>
    verdict.ok ? [] : [[urls[index]!, fault('', verdict.code, verdict.message)]],
  )
  return new Map(bad)
}

const NOTHING_JUDGED: Judged = { badUrls: new Map(), passwords: new Map() }

/** What a change of the configuration knows of the objects that there are, and the faults that it has found. */
export abstract class Scene {
  readonly db: Transaction
  readonly faults: Fault[] = []
  /** Database keys of objects by their identity. */
  readonly keys: Record<NamedKind, Map<string, number>> = {
    accounts: new Map(),
    carriers: new Map(),
    routes: new Map(),
    plans: new Map(),
  }
  /** Webhook secrets of new accounts, in plain text. */
  readonly issued: { accountId: string; name: string; webhookSecret: string }[] = []
  readonly secretKey: SecretKeys
  readonly passwords: Judged['passwords']
  readonly #badUrls: Judged['badUrls']

  constructor(db: Transaction, secretKey: SecretKeys, { badUrls, passwords }: Judged = NOTHING_JUDGED) {
    this.db = db
    this.secretKey = secretKey
    this.passwords = passwords
    this.#badUrls = badUrls
  }

  abstract presentWith(kind: KindName, identity: string): PresentObject | undefined

  /** The id of an account or plan: the one given, or a new one; null, with a fault, if it is not clear which. */
  abstract identify(
    kind: 'accounts' | 'plans',
    path: string,
    name: string,
    id: string | undefined,
  ): string | null

  /** The identity of the object that another one names; null, perhaps with a fault, if there is none. */
  abstract refer(kind: NamedKind, path: string, name: string): string | null

  /** Says that there is no object of this name. */
  protected missing(kind: NamedKind, path: string, name: string, message: string): null {
    const isReserved = name === SANDBOX && (kind === 'carriers' || kind === 'routes')
    this.faults.push(isReserved ? reservedName(path) : fault(path, 'NOT_FOUND', message))
    return null
  }

  addFaults(path: string, faults: readonly Fault[]): void {
    for (const each of faults)
      this.faults.push({ ...each, field: each.field === WHOLE_REQUEST ? path : `${path}.${each.field}` })
  }

  /** Adds what the callback guard found wrong with the URL. */
  judgeUrl(path: string, field: string, url: unknown): void {
    const bad = typeof url === 'string' ? this.#badUrls.get(url) : undefined
    if (bad !== undefined) this.faults.push({ ...bad, field: `${path}.${field}` })
  }

  sealUrl(url: string | null): string | null {
    return url && sealCallbackUrl(this.secretKey, url, () => randomBytes(IV_BYTES))
  }
}
