/** Public identifiers of accounts and service plans: 24 hex digits, lower case in the database. */

const PUBLIC_ID_BYTES = 12
const PUBLIC_ID = /^[0-9a-f]{24}$/i

/** Writes 12 random bytes as an identifier. Throws RangeError on any other number. */
export function publicId(random: Uint8Array): string {
  if (random.length !== PUBLIC_ID_BYTES) {
    throw new RangeError(`an identifier is made of ${PUBLIC_ID_BYTES} random bytes`)
  }
  return Buffer.from(random).toString('hex')
}

/** 24 hex digits, either case. */
export function isPublicId(text: string): boolean {
  return PUBLIC_ID.test(text)
}

/** The form identifiers are stored and compared in. */
export function canonicalPublicId(text: string): string {
  return text.toLowerCase()
}
