import { openSecret, type SecretKeys, sealSecret } from './secrets.ts'

/** Of the seal; it names no row, since a message's URL is sealed before its id is known. */
export const CALLBACK_URL_CONTEXT = 'callback URL'
/** What a sealed secret begins with; no URL does. */
const SEALED = /^v\d+\./

/** As it is stored: sealed when it carries credentials (user info), plain otherwise. `iv`: 12 fresh random bytes. */
export function sealCallbackUrl(key: SecretKeys, href: string, iv: () => Uint8Array): string {
  if (!href.includes('@')) return href
  const { username, password } = new URL(href)
  return username === '' && password === '' ? href : sealSecret(key, href, iv(), CALLBACK_URL_CONTEXT)
}

/** The URL to be called. @throws SecretError sealed with another key. */
export function openCallbackUrl(key: SecretKeys, stored: string): string {
  return SEALED.test(stored) ? openSecret(key, stored, CALLBACK_URL_CONTEXT) : stored
}

/** The URL as it is shown: the user info in it is a secret of the customer. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
