import { LRUCache } from 'lru-cache'
import {
  type CallbackChecker,
  type CallbackPolicy,
  type CallbackTarget,
  type CallbackUrlJudgement,
  type CallbackVerdict,
  type CheckOptions,
  isAllowedAddress,
  isAllowedHost,
  judgeCallbackUrl,
  refuse,
} from '../domain/webhooks/callback-url.ts'
import type { NameResolver, Resolution } from './resolver.ts'

/** Where a webhook may go right now: the URL taken apart and the addresses it may be sent to, best first. */
export type DialVerdict =
  | { ok: true; target: CallbackTarget; addresses: readonly string[] }
  | { ok: false; error: DialRefusal }

export type DialRefusal =
  | 'FORBIDDEN_URL'
  | 'FORBIDDEN_ADDRESS'
  | 'DNS_NOT_FOUND'
  | 'DNS_TIMEOUT'
  | 'DNS_FAILURE'

/** Addresses of a host that may be tried: a few of them, never hundreds. */
const MAX_DIAL_ADDRESSES = 8

/** URLs whose judgement by text is remembered. They take at most 12 MB. */
const MAX_REMEMBERED_URLS = 1_000

/** The only classifier of callback URLs. It is asked when a URL is accepted and again at each delivery. */
export class CallbackGuard implements CallbackChecker {
  readonly #policy: CallbackPolicy
  /** Of callback URLs: only a dlr-url may be plain http. */
  readonly #strict: CallbackPolicy
  readonly #resolver: NameResolver
  /** A message asks about the same URL three times. A judgement takes 11 µs, and depends only on the text and the policy. */
  readonly #byText = new LRUCache<string, CallbackUrlJudgement>({ max: MAX_REMEMBERED_URLS })
  /** One verdict per DNS answer: the dials that share the answer share its judgement. */
  readonly #judged = new WeakMap<readonly string[], boolean>()

  constructor(policy: CallbackPolicy, resolver: NameResolver) {
    this.#policy = policy
    this.#strict = { ...policy, allowHttp: false }
    this.#resolver = resolver
  }

  /**
   * Whether a callbackUrl is accepted. Takes at most the resolver's deadline; a name whose servers do
   * not answer is accepted, because the dial asks again and fails closed. Never rejects.
   */
  async check(raw: unknown, { allowsHttp = false }: CheckOptions = {}): Promise<CallbackVerdict> {
    const isStrict = !allowsHttp && this.#policy.allowHttp === true && /^http:/i.test(String(raw))
    const judgement = isStrict ? judgeCallbackUrl(raw, this.#strict) : this.#judgementOf(raw)
    if (!judgement.ok) return judgement
    const { hostname } = judgement.url
    if (!judgement.needsDns || isAllowedHost(hostname, this.#policy)) return { ok: true }
    const resolution = await this.#resolver.resolveForAccept(hostname)
    if (resolution.kind === 'not-found' && !this.#policy.allowUnresolvable) {
      return refuse('HOST_NOT_FOUND', 'must have a host name that resolves to an address')
    }
    if (resolution.kind === 'addresses' && !this.#isAllowed(resolution.addresses)) {
      return refuse('FORBIDDEN_ADDRESS', 'must not point at an internal or reserved address')
    }
    return { ok: true }
  }

  /**
   * Judges a URL for a delivery, with a DNS answer at most a second old. One forbidden address refuses them all, because a
   * name with a public and a private address is what rebinding looks like.
   */
  judgeForDial(raw: string): DialVerdict | Promise<DialVerdict> {
    const judgement = this.#judgementOf(raw)
    if (!judgement.ok) {
      const inner = judgement.code === 'FORBIDDEN_ADDRESS' ? 'FORBIDDEN_ADDRESS' : 'FORBIDDEN_URL'
      return { ok: false, error: inner }
    }
    const target = judgement.url
    if (target.address !== null) return { ok: true, target, addresses: [target.address] }
    const resolution = this.#resolver.resolveForDial(target.hostname)
    // A kept answer is used in the same tick: no promise on the common path.
    if (resolution instanceof Promise) return resolution.then((late) => this.#verdictOf(target, late))
    return this.#verdictOf(target, resolution)
  }

  #judgementOf(raw: unknown): CallbackUrlJudgement {
    const remembered = typeof raw === 'string' ? this.#byText.get(raw) : undefined
    if (remembered !== undefined) return remembered
    const judgement = judgeCallbackUrl(raw, this.#policy)
    // A refused URL is not asked for again, and may be any text.
    if (judgement.ok && typeof raw === 'string') this.#byText.set(raw, judgement)
    return judgement
  }

  #verdictOf(target: CallbackTarget, resolution: Resolution): DialVerdict {
    if (resolution.kind === 'not-found') return { ok: false, error: 'DNS_NOT_FOUND' }
    if (resolution.kind === 'timeout') return { ok: false, error: 'DNS_TIMEOUT' }
    if (resolution.kind === 'failure') return { ok: false, error: 'DNS_FAILURE' }
    const { addresses } = resolution
    if (!isAllowedHost(target.hostname, this.#policy) && !this.#isAllowed(addresses)) {
      return { ok: false, error: 'FORBIDDEN_ADDRESS' }
    }
    return { ok: true, target, addresses: addresses.slice(0, MAX_DIAL_ADDRESSES) }
  }

  #isAllowed(addresses: readonly string[]): boolean {
    let allowed = this.#judged.get(addresses)
    if (allowed === undefined) {
      allowed = addresses.every((address) => isAllowedAddress(address, this.#policy))
      this.#judged.set(addresses, allowed)
    }
    return allowed
  }
}
