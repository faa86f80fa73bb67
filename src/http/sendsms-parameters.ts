import type { FastifyRequest } from 'fastify'
import type { SendsmsParameters } from '../domain/sendsms-requests.ts'
import { AppError } from '../errors.ts'

/** The parameters of a request in the form of Kannel's sendsms: in the query of a GET, in the headers of a POST. */

const HEADER_PREFIX = 'x-kannel-'

/** @throws AppError for a POST whose content type has no text. */
export function sendsmsParameters({ method, raw, headers, body }: FastifyRequest): SendsmsParameters {
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
  if (OTHER_TYPES.has(name))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'Unsupported content-type, rejected' })
  if (!TYPES.has(name)) throw new AppError('VALIDATION_ERROR', { message: 'Invalid content-type' })
  const charset = /^charset="?([^"]*)"?$/i.exec(rest.find((part) => /^charset=/i.test(part)) ?? '')?.[1]
  return charset === undefined ? [name] : [name, charset]
}

/** Of a parameter that is given twice, the first counts. */
function queryOf(target: string): SendsmsParameters {
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
