import { orUnreadable, type SecretKeys } from '../../../domain/secrets.ts'
import { maskedUrl, openCallbackUrl, withoutCredentials } from '../../../domain/webhooks/callback-url.ts'

/** URLs that webhooks go to. */

/** The URL as an operator sees it; `(unreadable)` if it cannot be decrypted. */
export function shownUrl(secretKey: SecretKeys, stored: string | null): string | null {
  if (stored === null) return null
  return orUnreadable(() => withoutCredentials(openCallbackUrl(secretKey, stored)))
}

/** The URL as the audit log keeps it. */
export function recordedUrl(secretKey: SecretKeys, stored: string | null): string | null {
  if (stored === null) return null
  return orUnreadable(() => maskedUrl(openCallbackUrl(secretKey, stored)))
}
