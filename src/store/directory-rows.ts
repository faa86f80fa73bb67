import type { ErrorOutcome } from '../domain/carriers/statuses.ts'
import type {
  Account,
  Carrier,
  RateLimit,
  Route,
  RoutingRule,
  SenderRule,
  SendsmsUser,
  ServicePlan,
  Token,
} from '../domain/configuration/configuration.ts'
import type { Operator, TokenScope } from '../domain/credentials.ts'
import type { RateLimitColumns } from '../domain/limits/rate-limits.ts'
import type { SenderType } from '../domain/messages/addresses.ts'
import { isSandbox } from '../domain/sandbox.ts'
import { accountSecretContext, carrierSecretContext, SecretError } from '../domain/secrets.ts'
import { CALLBACK_URL_CONTEXT, isSealedUrl } from '../domain/webhooks/callback-url.ts'
import { openWebhookHeaders, sentWebhookHeaders } from '../domain/webhooks/requests.ts'

/** The rows of the configuration as nodes read them, and the objects that they become. */

/** Opens a sealed secret; throws when it cannot. */
export type SecretOpener = (sealed: string, context: string) => string

export interface AccountRow
  extends RateLimitColumns,
    Pick<Account, 'id' | 'accountId' | 'name' | 'defaultDlrUrl'> {
  readonly webhookSecret: string
  readonly previousWebhookSecret: string | null
  readonly webhookHeaders: string | null
}

export interface PlanRow
  extends RateLimitColumns,
    Omit<ServicePlan, 'account' | 'sandbox' | 'route' | 'rateLimit' | 'senderTypes' | 'allowedCountries'> {
  readonly account: number
  readonly routeId: number | null
  readonly senderTypes: SenderType[]
  readonly allowedCountries: string[]
}

export interface TokenRow {
  readonly id: number
  readonly account: number
  readonly name: string
  readonly planIds: number[] | null
  readonly sha256: string
  readonly scopes: TokenScope[] | null
  readonly expiresAtMs: number | null
}

export interface CarrierRow extends Omit<Carrier, 'submitOutcomes'> {
  readonly submitOutcomes: Readonly<Record<string, ErrorOutcome>>
}

export type OperatorRow = Operator & { readonly sha256: string }

export interface SenderRow {
  readonly planId: number
  readonly sender: string
  readonly status: string
}

export interface NumberRow {
  readonly number: string
  readonly planId: number
  readonly keywords: readonly string[]
}

export interface UserRow extends Omit<SendsmsUser, 'plan'> {
  readonly planId: number
}

export interface SenderRuleRow extends Omit<SenderRule, 'senderTypes'> {
  readonly senderTypes: SenderType[]
}

export interface RuleRow extends Omit<RoutingRule, 'route'> {
  readonly route: number
}

/** Opens secrets, and keeps count of those that cannot be opened. */
export class Secrets {
  readonly #open: SecretOpener
  readonly unreadable: string[] = []
  isAnyReadable = false

  constructor(open: SecretOpener) {
    this.#open = open
  }

  /** Counts a configured URL that cannot be opened. One that is not sealed is no secret. `of` says which URL it is. */
  checkUrl(stored: string | null, of: string): void {
    if (stored !== null && isSealedUrl(stored))
      this.tryRead((open) => open(stored, CALLBACK_URL_CONTEXT), `${of}: `)
  }

  /** What `read` makes of secrets; null if one of them cannot be opened. */
  tryRead<T>(read: (open: SecretOpener) => T, of = ''): T | null {
    try {
      const value = read(this.#open)
      this.isAnyReadable = true
      return value
    } catch (error) {
      if (!(error instanceof SecretError)) throw error
      this.unreadable.push(`${of}${error.message}`)
      return null
    }
  }
}

export function refuseWrongKey(secrets: readonly Secrets[]): void {
  const first = secrets.flatMap(({ unreadable }) => unreadable)[0]
  if (first !== undefined && !secrets.some(({ isAnyReadable }) => isAnyReadable)) throw new SecretError(first)
}

export function carrierOf(row: CarrierRow, secrets: Secrets): Carrier {
  const password = secrets.tryRead((open) => open(row.password, carrierSecretContext(row.id)))
  const outcomes = Object.entries(row.submitOutcomes)
  return {
    ...row,
    ...(password === null ? { password: '', state: 'stopped' } : { password }),
    submitOutcomes: new Map(outcomes.map(([status, outcome]) => [Number(status), outcome])),
  }
}

export function tokenOf(
  { sha256, account, ...token }: TokenRow,
  accounts: ReadonlyMap<number, Account>,
): Token {
  return {
    ...token,
    account: accounts.get(account)!,
    planIds: token.planIds === null ? null : new Set(token.planIds),
    scopes: token.scopes === null ? null : new Set(token.scopes),
  }
}

export function accountOf(row: AccountRow, secrets: Secrets): Account {
  const { id, accountId, name, defaultDlrUrl, webhookSecret: secret, previousWebhookSecret: previous } = row
  const context = accountSecretContext(accountId)
  const sealed = previous === null ? [secret] : [secret, previous]
  const signing = secrets.tryRead((open) => ({
    webhookSecrets: sealed.map((one) => open(one, context)),
    webhookHeaders: sentWebhookHeaders(openWebhookHeaders(open, row.webhookHeaders, accountId)),
  }))
  secrets.checkUrl(defaultDlrUrl, `default DLR URL of account ${accountId}`)
  return {
    id,
    accountId,
    name,
    defaultDlrUrl,
    ...(signing ?? { webhookSecrets: null, webhookHeaders: {} }),
    rateLimit: rateLimitOf(row),
  }
}

export function planOf(
  { messagesPerSecond, burst, routeId, ...plan }: PlanRow,
  accounts: ReadonlyMap<number, Account>,
  routes: ReadonlyMap<number, Route>,
  secrets: Secrets,
): ServicePlan {
  secrets.checkUrl(plan.inboundUrl, `inbound URL of service plan ${plan.servicePlanId}`)
  const route = routeId === null ? null : routes.get(routeId)!
  return {
    ...plan,
    account: accounts.get(plan.account)!,
    sandbox: route !== null && isSandbox(route),
    route,
    rateLimit: rateLimitOf({ messagesPerSecond, burst }),
    senderTypes: new Set(plan.senderTypes),
    allowedCountries: plan.allowedCountries.length === 0 ? null : new Set(plan.allowedCountries),
  }
}

/** A limit without its own burst allows one second's worth at once. */
function rateLimitOf({ messagesPerSecond, burst }: RateLimitColumns): RateLimit | null {
  if (messagesPerSecond === null) return null
  return { perSecond: messagesPerSecond, burst: burst ?? messagesPerSecond }
}
