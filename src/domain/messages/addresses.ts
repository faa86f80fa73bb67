import { HIDDEN } from '../secrets.ts'

/** Addresses: recipients, senders, and their form on an SMPP link. */

export const SENDER_TYPES = ['short-code', 'e164', 'alphanumeric'] as const
export type SenderType = (typeof SENDER_TYPES)[number]

/** An address as PDUs carry it: type of number and numbering plan (SMPP 3.4 §5.2.5, §5.2.6). */
export type CarrierAddress = { ton: number; npi: number; address: string }

const TON_UNKNOWN = 0
const TON_INTERNATIONAL = 1
const TON_ALPHANUMERIC = 5

const E164 = /^\+[1-9][0-9]{6,14}$/
const SHORT_CODE = /^[0-9]{3,8}$/
const ALPHANUMERIC = /^[A-Za-z0-9 ._&-]{1,11}$/
const LETTER = /[A-Za-z]/
const BARE_NUMBER = /^[1-9][0-9]{6,14}$/
const BARE_WITH_PREFIX = /^00[1-9][0-9]{6,14}$/

/** An SMPP address field has 20 characters (SMPP 3.4 §5.2.8). Vendors send longer ones, which are kept up to this bound. */
const MAX_INBOUND_LENGTH = 64

/** `+`, then 7 to 15 digits that do not begin with 0. ITU-T E.164 §6.2.1 allows at most 15. */
export function isE164(address: string): boolean {
  return E164.test(address)
}

/**
 * The E.164 number that a text means if it is written internationally: `+1 (555) 123-0001`, `00447400123456`. Null for any
 * other text, such as a number without its country code.
 */
export function readE164(text: string): string | null {
  const compact = text.slice(0, MAX_INBOUND_LENGTH).replace(/[\s().-]/g, '')
  const number = compact.replace(/^00/, '+')
  return isE164(number) ? number : null
}

/**
 * The type of a sender, or null when it is not valid: 3-8 digits; E.164; or 1-11 ASCII letters, digits, space and `.` `_`
 * `-` `&`, with at least one letter and no space at the ends.
 */
export function classifySender(from: string): SenderType | null {
  if (SHORT_CODE.test(from)) return 'short-code'
  if (E164.test(from)) return 'e164'
  if (!ALPHANUMERIC.test(from) || !LETTER.test(from)) return null
  return from.startsWith(' ') || from.endsWith(' ') ? null : 'alphanumeric'
}

/**
 * Type of number and numbering plan of a sender. International numbers are ISDN (1/1) and alphanumeric senders have no
 * plan (5/0). A short code means something only inside the carrier's own network: network specific (3/0).
 */
function tonNpi(type: SenderType): { ton: number; npi: number } {
  switch (type) {
    case 'e164':
      return { ton: 1, npi: 1 }
    case 'alphanumeric':
      return { ton: 5, npi: 0 }
    case 'short-code':
      return { ton: 3, npi: 0 }
  }
}

/** A validated sender or recipient as a PDU carries it: an international number without its `+`. */
export function toCarrierAddress(address: string): CarrierAddress {
  const type = classifySender(address) ?? 'alphanumeric'
  return { ...tonNpi(type), address: type === 'e164' ? address.slice(1) : address }
}

/**
 * Normalises an address of an inbound PDU. An international number gets its `+`: one that TON marks as such, or a bare
 * number of 7-15 digits (also after 00) under TON unknown. Short codes, national numbers (TON does not tell their
 * country) and alphanumeric senders stay as they came. Control characters are dropped; never throws.
 */
export function fromCarrierAddress(address: string, ton: number): string {
  const printable = withoutControls(address.slice(0, MAX_INBOUND_LENGTH)).trim()
  if (ton === TON_ALPHANUMERIC) return printable
  const compact = printable.replace(/[ ().-]/g, '')
  if (E164.test(compact)) return compact
  if (ton !== TON_INTERNATIONAL && ton !== TON_UNKNOWN) return printable
  if (BARE_WITH_PREFIX.test(compact)) return `+${compact.slice(2)}`
  return BARE_NUMBER.test(compact) ? `+${compact}` : printable
}

/**
 * Digits of an address as it is dialled internationally, without `+` or 00. Addresses with the same digits are one
 * number.
 */
export function dialledDigits(address: string): string {
  return address.slice(0, MAX_INBOUND_LENGTH).replace(/\D/g, '').replace(/^00/, '')
}

/** The sender as the addresses of a receipt have it: the digits of a number or short code, or an alphanumeric sender. */
export function senderInReceipt(sender: string): string {
  return classifySender(sender) === 'alphanumeric' ? sender : dialledDigits(sender)
}

function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, '')
}

/** A person's telephone number, with most of its digits hidden: `+155******01`. */
export function maskedNumber(number: string): string {
  const [shownFirst, shownLast] = [4, 2]
  if (number.length <= shownFirst + shownLast) return HIDDEN
  const hidden = number.length - shownFirst - shownLast
  return number.slice(0, shownFirst) + '*'.repeat(hidden) + number.slice(-shownLast)
}
