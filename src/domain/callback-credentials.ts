import { openSecret, type SecretKeys, sealSecret } from './secrets.ts'

/** Context of the seal. It names no row, because a message's URL is sealed before its id is known. */
export const CALLBACK_URL_CONTEXT = 'callback URL'
/** Every sealed secret begins like this, and no URL does. */
const SEALED = /^v\d+\./

/** The stored form: sealed when the URL carries credentials (user info), plain otherwise. `iv`: 12 fresh random bytes. */
export function sealCallbackUrl(key: SecretKeys, href: string, iv: () => Uint8Array): string {
  if (!href.includes('@')) return href
  const { username, password } = new URL(href)
  return username === '' && password === '' ? href : sealSecret(key, href, iv(), CALLBACK_URL_CONTEXT)
}

/** The URL to be called. @throws SecretError sealed with another key. */
export function openCallbackUrl(key: SecretKeys, stored: string): string {
  return SEALED.test(stored) ? openSecret(key, stored, CALLBACK_URL_CONTEXT) : stored
}

/** The URL as it is shown, without its user info, which is a secret of the customer. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
