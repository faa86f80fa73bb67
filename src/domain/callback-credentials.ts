import { openSecret, sealSecret } from './secrets.ts'

const CONTEXT = 'callback URL'
/** What a sealed secret begins with; no URL does. */
const SEALED = /^v\d+\./

/** As it is stored: sealed when it carries credentials (user info), plain otherwise. `iv`: 12 fresh random bytes. */
export function sealCallbackUrl(key: Uint8Array, href: string, iv: () => Uint8Array): string {
  const { username, password } = new URL(href)
  return username === '' && password === '' ? href : sealSecret(key, href, iv(), CONTEXT)
}

/** The URL to be called. @throws SecretError sealed with another key. */
export function openCallbackUrl(key: Uint8Array, stored: string): string {
  return SEALED.test(stored) ? openSecret(key, stored, CONTEXT) : stored
}

/** The URL as it is shown: the user info in it is a secret of the customer. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
