import { randomBytes } from 'node:crypto'
import { IV_BYTES, orUnreadable, type SecretKeys } from '../../../domain/secrets.ts'
import {
  maskedUrl,
  openCallbackUrl,
  sealCallbackUrl,
  withoutCredentials,
} from '../../../domain/webhooks/callback-url.ts'
import { invalidField } from '../../../errors.ts'
import type { AdminDeps } from './operations.ts'

/** URLs that webhooks go to: judged by the guard, sealed when they carry credentials, shown without them. */

/** The form to store; null and undefined are returned unchanged. Throws VALIDATION_ERROR with the guard's message. */
async function storableUrl<T extends null | undefined>(
  { guard, secretKey }: Pick<AdminDeps, 'guard' | 'secretKey'>,
  field: string,
  url: string | T,
): Promise<string | T> {
  if (typeof url !== 'string') return url
  const verdict = await guard.check(url)
  if (!verdict.ok) throw invalidField(field, verdict.code, verdict.message)
  return sealCallbackUrl(secretKey, url, () => randomBytes(IV_BYTES))
}

/** The body of a request with the URL of this field, if it has one, in the form to store. */
export function withStorableUrl<Field extends string>(
  deps: Pick<AdminDeps, 'guard' | 'secretKey'>,
  field: Field,
) {
  return async <Body extends { readonly [F in Field]?: string | null }>(body: Body): Promise<Body> => {
    const url = await storableUrl(deps, field, body[field])
    return url === undefined ? body : { ...body, [field]: url }
  }
}

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
