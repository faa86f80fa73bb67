import { receiptErrorMessage } from '../error-codes.ts'
import { createdAtMs } from '../identifiers.ts'
import type { Message, Status } from '../messages/messages.ts'

/**
 * URLs in which a send in Kannel's form asks for delivery reports. A report is a GET of the URL with its %-escapes replaced.
 * A message keeps such a URL in the place of its callback URL, with the mask behind it: no URL has a space (ADR 29).
 */
const MASK = ' dlr-mask='

/** Kannel's types of delivery report, the bits of a mask. Type 4, for messages that a carrier buffers, does not occur. */
const DELIVERED = 1
const FAILED = 2
const SENT = 8
const REFUSED = 16

/** What escapes say that are known when the message is accepted. */
interface DlrContext {
  /** The recipient and the sender as the request wrote them. */
  readonly to: string
  readonly from: string
  readonly username: string
}

/** The form in which a message keeps the URL. */
export function storedDlrUrl(url: string, mask: number, { to, from, username }: DlrContext): string {
  const known = { p: to, P: from, q: withPlus(to), Q: withPlus(from), n: username }
  const filled = replaceEscapes(withPath(url), (letter) => {
    const text = known[letter as keyof typeof known]
    // A percent sign that is no escape is doubled, as an application has to.
    return text === undefined ? null : encoded(text).replaceAll('%', '%%')
  })
  return `${filled}${MASK}${mask & 31}`
}

/** Whether the text, opened, is a URL as `storedDlrUrl` returns it. */
export function isDlrUrl(stored: string): boolean {
  return stored.includes(MASK)
}

/** Whether a message with this callback URL wants no report of its new status. False of any other URL, and of a sealed one. */
export function isMasked(stored: string, { status, sentAtMs }: Change): boolean {
  const at = stored.indexOf(MASK)
  return at >= 0 && (Number(stored.slice(at + MASK.length)) & typeOf(status, sentAtMs !== null)) === 0
}

interface Change {
  readonly status: Status
  readonly sentAtMs: number | null
}

/** The URL that reports the status of the message; null if it is masked. */
export function dlrUrl(stored: string, message: Message): string | null {
  const { status, sentAt } = message
  if (isMasked(stored, { status, sentAtMs: sentAt?.getTime() ?? null })) return null
  return filledUrl(stored, valuesOf(message, typeOf(status, sentAt !== null)))
}

/** The longest URL that filling in the escapes can produce. If it may be called, so may every other. */
export function longestDlrUrl(stored: string): string {
  return filledUrl(stored, { ...valuesOf(LONGEST, FAILED), d: String(REFUSED) })
}

function filledUrl(stored: string, values: Readonly<Record<string, string>>): string {
  return replaceEscapes(stored.slice(0, stored.indexOf(MASK)), (letter) => values[letter[0]!] ?? null)
}

const LONGEST = {
  msgId: '00000000-0000-7000-8000-000000000000',
  status: 'FAILED',
  errorCode: '300',
  sentAt: null,
  updatedAt: new Date('2099-12-31'),
} as Message

function typeOf(status: Status, wasSent: boolean): number {
  if (status === 'SENT') return SENT
  if (status === 'DELIVERED') return DELIVERED
  return status === 'FAILED' && !wasSent ? REFUSED : FAILED
}

/** By escape. Kannel knows more of a message than its reports do: those escapes have the values that they mostly have there. */
function valuesOf(message: Message, type: number): Readonly<Record<string, string>> {
  const { msgId, updatedAt } = message
  const text = reportText(message, type)
  const report = encoded(text)
  return {
    '%': '%',
    d: String(type),
    I: msgId,
    F: msgId,
    A: report,
    a: report,
    b: report,
    e: Buffer.from(text).toString('hex').toUpperCase(),
    k: encoded(text.split(' ')[0]!),
    t: updatedAt.toISOString().slice(0, 19).replace('T', '+'),
    T: String(Math.floor(updatedAt.getTime() / 1_000)),
    c: '-1',
    m: '-1',
    M: '-1',
    C: 'UTF-8',
    O: '00',
    ...UNKNOWN,
  }
}

const UNKNOWN = Object.fromEntries([...'#BDRSVfiorsuv'].map((letter) => [letter, '']))

/** What a carrier says in its answer, or in the text of a receipt (SMPP 3.4 appendix B). */
function reportText({ msgId, status, errorCode, updatedAt }: Message, type: number): string {
  if (type === SENT) return 'ACK/'
  if (type === REFUSED) return `NACK/${errorCode}/${receiptErrorMessage(status, errorCode)}`
  const delivered = type === DELIVERED ? '001' : '000'
  const dates = `submit date:${minuteOf(createdAtMs(msgId))} done date:${minuteOf(updatedAt.getTime())}`
  return `id:${msgId} sub:001 dlvrd:${delivered} ${dates} stat:${stateOf(status, errorCode)} err:${errorCode} text:`
}

/** `YYMMDDhhmm` */
function minuteOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\D/g, '').slice(2, 12)
}

const STATES: Readonly<Record<string, string>> = { '200': 'REJECTD', '204': 'DELETED', '500': 'EXPIRED' }

function stateOf(status: Status, errorCode: string): string {
  if (status === 'DELIVERED') return 'DELIVRD'
  return status === 'UNKNOWN' ? 'UNKNOWN' : (STATES[errorCode] ?? 'UNDELIV')
}

/** Replaces `%x`, and `%#group#name#`, unless `fill` returns null. */
function replaceEscapes(text: string, fill: (letter: string) => string | null): string {
  return text.replace(/%(#[^#]*#[^#]*#|[\s\S])/g, (all, letter: string) => fill(letter) ?? all)
}

function encoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

function withPlus(number: string): string {
  return number.replace(/^00/, '+')
}

/** A URL of a host alone has a path when it is called. */
function withPath(url: string): string {
  return url.replace(/^(https?:\/\/[^/?#]+)(?=$|[?#])/i, '$1/')
}
