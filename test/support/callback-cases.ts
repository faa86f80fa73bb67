import { readFileSync } from 'node:fs'
import type { CallbackPolicy } from '../../src/domain/webhooks/callback-url.ts'
import { STRICT_CALLBACK_POLICY } from './callback-policy.ts'
import type { DnsRecords } from './dns-server.ts'

/** One case of vectors/callback-url.json (S…) or callback-url-more.json (C…). */
export interface CallbackCase {
  id: string
  url: unknown
  class: string
  expect: 'accept' | 'reject-400' | 'accept-or-503' | 'reject-at-dial'
  note?: string
  dns?: DnsRecords & { delayMs?: number; note?: string }
}

export const CALLBACK_CASES: readonly CallbackCase[] = ['callback-url', 'callback-url-more'].flatMap((name) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8')),
)

/** Cases whose verdict needs more than the text: what DNS says. What a receiver does is judged at the dial. */
export const DNS_CASES = CALLBACK_CASES.filter(({ dns }) => dns !== undefined)

const LONGEST = 80
const VERDICTS = {
  accept: 'accepts',
  'reject-400': 'refuses',
  'accept-or-503': 'accepts',
  'reject-at-dial': 'accepts until the dial',
}

/** A name for the case: `refuses "https://0.0.0.0/": first of 0.0.0.0/8, this network (ipv4-range, C001)`. */
export function sentenceOf({ id, url, class: kind, note, expect }: CallbackCase): string {
  const text = JSON.stringify(url) ?? 'undefined'
  const shown = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} …`
  return `${VERDICTS[expect]} ${shown}${note === undefined ? '' : `: ${note}`} (${kind}, ${id})`
}

/** The policy a case is judged under: strict, but for the cases about a setting. */
export function policyOf({ id, class: kind }: CallbackCase): CallbackPolicy {
  if (kind === 'allowlist') return { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] }
  if (id === 'S325' || kind === 'self-callback')
    return { ...STRICT_CALLBACK_POLICY, ownOrigins: ['https://receiver.example.com'] }
  return STRICT_CALLBACK_POLICY
}

/** What the DNS server answers for a case; a name without records has a public address. */
export function recordsOf({ dns }: CallbackCase): DnsRecords {
  if (dns === undefined) return { A: ['93.184.216.34'] }
  if (dns.delayMs !== undefined) return { silent: true }
  if (dns.note !== 'expand to 1000') return dns
  const addresses = Array.from({ length: 1_000 }, (_, index) => `93.184.${216 + (index >> 8)}.${index & 255}`)
  return { ...dns, A: addresses }
}
