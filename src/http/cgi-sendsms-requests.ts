import type { FastifyRequest } from 'fastify'
import type { SendsmsUser } from '../domain/configuration/configuration.ts'
import { classifySender, isE164 } from '../domain/messages/addresses.ts'
import { MAX_BODY_CHARACTERS } from '../domain/messages/messages.ts'
import { AppError } from '../errors.ts'

/**
 * A request in the form of Kannel's sendsms, read. docs/sendsms.md says what becomes of each parameter. Texts of faults are
 * Kannel's wherever it has one, because applications look at them.
 */
export interface CgiSendsmsRequest {
  readonly from: Written
  readonly recipients: readonly Written[]
  readonly body: string
  /** Null: no reports by URL. */
  readonly dlr: { readonly url: string; readonly mask: number } | null
  readonly validitySeconds: number | undefined
}

/** An address, and how the request wrote it. */
interface Written {
  readonly address: string
  readonly written: string
}

/** By name, percent-decoded. Only the text may be in another encoding than UTF-8. */
export type CgiSendsmsParameters = ReadonlyMap<string, Buffer>

const MAX_RECIPIENTS = 100
/** Of a number, with its spaces and dashes. */
const MAX_WRITTEN_CHARACTERS = 30
const MAX_ACCOUNT_CHARACTERS = 64

/** Thrown for all that is wrong with a request: 400 with this text. */
export function rejected(text: string): AppError {
  return new AppError('VALIDATION_ERROR', { message: `${text}, rejected` })
}

/** @throws AppError VALIDATION_ERROR */
export function readCgiSendsms(parameters: CgiSendsmsParameters, user: SendsmsUser): CgiSendsmsRequest {
  const recipients = recipientsOf(parameters, user.callingCode)
  const from = senderOf(parameters, user)
  const numbers = numbersOf(parameters)
  refuseHeader(parameters)
  judgeAccount(textOf(parameters, 'account') ?? '')
  const { validity } = numbers
  return {
    from,
    recipients,
    body: bodyOf(parameters, numbers.coding === 2 ? 'utf-16be' : 'utf-8'),
    dlr: dlrOf(parameters, numbers['dlr-mask'], user.dlrUrl),
    // Less than a minute is not worth sending; Kannel's carriers would discard it.
    validitySeconds: validity === UNSET ? undefined : Math.max(1, validity) * 60,
  }
}

function textOf(parameters: CgiSendsmsParameters, name: string): string | undefined {
  return parameters.get(name)?.toString()
}

function recipientsOf(parameters: CgiSendsmsParameters, callingCode: string | null): Written[] {
  const to = textOf(parameters, 'to')
  if (to === undefined) throw rejected('Missing receiver number')
  const all = to.split(/\s+/).filter((each) => each !== '')
  if (all.length === 0) throw rejected('Empty receiver number not allowed')
  if (all.length > MAX_RECIPIENTS) throw rejected(`More than ${MAX_RECIPIENTS} receiver numbers`)
  const byAddress = new Map<string, Written>()
  for (const [index, written] of all.entries()) {
    const address = recipientIn(written, callingCode)
    // Its text is not repeated: browsers take the answer for HTML.
    if (address === null) throw rejected(`Receiver number ${index + 1} misformed`)
    byAddress.set(address, { address, written })
  }
  return [...byAddress.values()]
}

/** Digits alone are an international number, as they are to Kannel's carriers; with one 0 before them, a national one. */
function recipientIn(written: string, callingCode: string | null): string | null {
  if (written.length > MAX_WRITTEN_CHARACTERS) return null
  const compact = written.replaceAll('-', '')
  const national = /^0[1-9]/.test(compact)
  if (national && callingCode === null) return null
  const number = national ? `+${callingCode}${compact.slice(1)}` : internationalIn(compact)
  return isE164(number) ? number : null
}

function internationalIn(number: string): string {
  return number.startsWith('+') ? number : `+${number.replace(/^00/, '')}`
}

function senderOf(parameters: CgiSendsmsParameters, { forcedSender, defaultSender }: SendsmsUser): Written {
  const given = textOf(parameters, 'from')?.trim() ?? ''
  const written = forcedSender ?? (given === '' ? defaultSender : given)
  if (written === null) throw rejected('Sender missing and no global set')
  const address =
    /^[0-9]+$/.test(written) && classifySender(written) === null ? internationalIn(written) : written
  if (classifySender(address) === null) throw rejected('Sender misformed')
  return { address, written }
}

const UNSET = -1
const ANY = null

/** Parameters that are numbers: what Kannel calls them, the most it takes, and those of their values that do no harm here. */
const NUMBERS = {
  'dlr-mask': { label: 'DLR-Mask', most: Number.MAX_SAFE_INTEGER, harmless: ANY },
  mclass: { label: 'MClass', most: 3, harmless: [1] },
  pid: { label: 'PID', most: 255, harmless: [0] },
  rpi: { label: 'RPI', most: 2, harmless: ANY },
  'alt-dcs': { label: 'Alt-DCS', most: 1, harmless: ANY },
  mwi: { label: 'MWI', most: 7, harmless: [] },
  coding: { label: 'Coding', most: 2, harmless: [0, 2] },
  compress: { label: 'Compress', most: 1, harmless: [0] },
  validity: { label: 'Validity', most: Number.MAX_SAFE_INTEGER, harmless: ANY },
  deferred: { label: 'Deferred', most: Number.MAX_SAFE_INTEGER, harmless: [0] },
  priority: { label: 'Priority', most: 3, harmless: ANY },
} as const satisfies Record<string, { label: string; most: number; harmless: readonly number[] | null }>
type NumberName = keyof typeof NUMBERS

/** Older names that Kannel takes too. */
const OLDER_NAMES: Readonly<Record<string, string>> = { 'dlr-mask': 'dlrmask', 'dlr-url': 'dlrurl' }

function numbersOf(parameters: CgiSendsmsParameters): Record<NumberName, number> {
  const values = Object.entries(NUMBERS).map(([name, { label, most, harmless }]) => {
    const value = numberIn(named(parameters, name))
    if (value < UNSET || value > most) throw rejected(`${label} field misformed`)
    const isTaken = value === UNSET || harmless === ANY || (harmless as readonly number[]).includes(value)
    if (!isTaken) throw rejected(`${label} field not supported`)
    return [name, value]
  })
  return Object.fromEntries(values)
}

function named(parameters: CgiSendsmsParameters, name: string): string | undefined {
  return textOf(parameters, name) ?? textOf(parameters, OLDER_NAMES[name] ?? name)
}

/** As `scanf` reads it: anything else than a number is none. */
function numberIn(text = ''): number {
  const digits = /^\s*([+-]?[0-9]+)/.exec(text)?.[1]
  return digits === undefined ? UNSET : Number(digits)
}

/** Aldis writes the user data header itself. */
function refuseHeader(parameters: CgiSendsmsParameters): void {
  const udh = parameters.get('udh')
  if (udh === undefined || udh.length === 0) return
  throw rejected(udh.length === udh[0]! + 1 ? 'UDH field not supported' : 'UDH field misformed')
}

/** Kannel writes the account into its log, so it has no brackets and no line breaks; here it is not kept. */
function judgeAccount(account: string): void {
  if (account.length > MAX_ACCOUNT_CHARACTERS || /[[\]\n\r]/.test(account))
    throw rejected('Account field misformed or too long')
}

/** As `iconv` understands them: without a mark, the higher byte comes first. */
const BIG_ENDIAN = /^(?:utf-?16|ucs-?2)$/i

function bodyOf(parameters: CgiSendsmsParameters, usual: string): string {
  const given = textOf(parameters, 'charset')?.trim()
  const charset = given === undefined || given === '' ? usual : BIG_ENDIAN.test(given) ? 'utf-16be' : given
  let body: string
  try {
    body = new TextDecoder(charset, { fatal: true }).decode(parameters.get('text') ?? new Uint8Array())
  } catch {
    throw rejected('Charset or body misformed')
  }
  if (body === '') throw rejected('Empty text not allowed')
  if (body.includes('\0') || !body.isWellFormed()) throw rejected('Charset or body misformed')
  if ([...body].length > MAX_BODY_CHARACTERS)
    throw rejected(`Text longer than ${MAX_BODY_CHARACTERS} characters`)
  return body
}

function dlrOf(
  parameters: CgiSendsmsParameters,
  mask: number,
  usual: string | null,
): CgiSendsmsRequest['dlr'] {
  const given = named(parameters, 'dlr-url') ?? ''
  if (given !== '' && !/^https?:\/\/./i.test(given)) throw rejected('DLR-URL field misformed')
  const url = given === '' ? usual : given
  return url === null || mask <= 0 ? null : { url, mask }
}

// The parameters of a request in the form of Kannel's sendsms: in the query of a GET, in the headers of a POST.

const HEADER_PREFIX = 'x-kannel-'

/** @throws AppError for a POST whose content type has no text. */
export function cgiSendsmsParameters({ method, raw, headers, body }: FastifyRequest): CgiSendsmsParameters {
  if (method === 'GET') return queryOf(raw.url ?? '')
  const [type = '', charset] = contentTypeOf(headers['content-type'])
  const parameters = new Map<string, Buffer>(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(HEADER_PREFIX))
      .map(([name, value]) => [
        name.slice(HEADER_PREFIX.length),
        Buffer.from(String(value).trim(), 'latin1'),
      ]),
  )
  const text = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  parameters.set('text', text)
  if (charset !== undefined) parameters.set('charset', Buffer.from(charset))
  const udh = parameters.get('udh')
  if (udh !== undefined) parameters.set('udh', headerBytes(udh.toString()))
  // Kannel sends the body of other types as they are, which is data and no text.
  if (type === 'application/octet-stream' && !parameters.has('coding'))
    parameters.set('coding', Buffer.from('1'))
  return parameters
}

const TYPES: ReadonlySet<string> = new Set(['text/plain', 'application/octet-stream'])
/** Types that Kannel reads too. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['text/html', 'text/vnd.wap.wml', 'text/xml'])

function contentTypeOf(header = 'application/octet-stream'): [type: string, charset?: string] {
  const [type = '', ...rest] = header.split(';').map((part) => part.trim())
  const name = type.toLowerCase()
  if (OTHER_TYPES.has(name)) throw new AppError('UNSUPPORTED_MEDIA_TYPE')
  if (!TYPES.has(name)) throw new AppError('VALIDATION_ERROR', { message: 'Invalid content-type' })
  const charset = /^charset="?([^"]*)"?$/i.exec(rest.find((part) => /^charset=/i.test(part)) ?? '')?.[1]
  return charset === undefined ? [name] : [name, charset]
}

/** Of a parameter that is given twice, the first counts. */
function queryOf(target: string): CgiSendsmsParameters {
  const at = target.indexOf('?')
  const parameters = new Map<string, Buffer>()
  if (at < 0) return parameters
  for (const part of target.slice(at + 1).split('&')) {
    const equals = part.indexOf('=')
    const name = percentDecoded(part.slice(0, Math.max(equals, 0))).toString()
    if (name !== '' && !parameters.has(name)) parameters.set(name, percentDecoded(part.slice(equals + 1)))
  }
  return parameters
}

/** As bytes, because the text may be in any encoding. */
function percentDecoded(text: string): Buffer {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

/** A user data header is hexadecimal in a header, or percent-encoded as in a query. */
function headerBytes(text: string): Buffer {
  return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : percentDecoded(text)
}
