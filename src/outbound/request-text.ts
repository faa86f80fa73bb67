import type { CallbackTarget } from '../domain/webhooks/callback-url.ts'
import { commonHeaders } from '../domain/webhooks/requests.ts'

export interface RequestParts {
  /** '': a GET. */
  readonly body: string
  /** Headers of this request. They win over those of the account. */
  readonly headers: Readonly<Record<string, string>>
  /** The account's own headers, by name; `authorization` in lower case. An object shared by all its requests is read once. */
  readonly accountHeaders?: Readonly<Record<string, string>> | undefined
}

/** Headers whose values may be a customer's credentials, by name. */
export type SecretHeaders = Readonly<Record<string, string>>

/** The start of all requests of an account to a target, behind the method. */
interface RequestStart {
  readonly accountHeaders: Readonly<Record<string, string>>
  /** Null if it cannot be sent. */
  readonly text: string | null
  readonly secrets: SecretHeaders
}

/** RFC 9112 §3.2: nothing that would end the line or the path. */
const PATH = /^\/[\x21-\x7e]*$/
/** RFC 9112 §5, in ASCII. */
const FIELD_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e]*$/
const NO_HEADERS: Readonly<Record<string, string>> = {}

const starts = new WeakMap<CallbackTarget, RequestStart>()

/**
 * A POST, or a GET, as it is sent, head and body. Its text is null when a header or the path cannot be sent without becoming something
 * else. The part that is the same for all requests of an account to a target is built and judged once.
 */
export function requestText(
  target: CallbackTarget,
  { body, headers, accountHeaders = NO_HEADERS }: RequestParts,
): { text: string | null; secrets: SecretHeaders } {
  let start = starts.get(target)
  if (start === undefined || start.accountHeaders !== accountHeaders) {
    start = startOf(target, accountHeaders)
    starts.set(target, start)
  }
  const { secrets } = start
  const lines = fieldLines(headers)
  if (start.text === null || lines === null) return { text: null, secrets }
  if (body === '') return { text: `GET ${start.text}${lines}\r\n`, secrets }
  const length = Buffer.byteLength(body)
  return { text: `POST ${start.text}${lines}content-length: ${length}\r\n\r\n${body}`, secrets }
}

function startOf(target: CallbackTarget, accountHeaders: Readonly<Record<string, string>>): RequestStart {
  const { authorization, origin, protocol, path } = target
  const secrets = { ...accountHeaders, ...(authorization !== null && { authorization }) }
  const lines = fieldLines({
    host: origin.slice(`${protocol}//`.length),
    connection: 'keep-alive',
    ...commonHeaders(secrets),
  })
  const text = lines === null || !PATH.test(path) ? null : `${path} HTTP/1.1\r\n${lines}`
  return { accountHeaders, text, secrets }
}

/** One line for each header; null if a name or value is invalid. */
function fieldLines(headers: Readonly<Record<string, string>>): string | null {
  let lines = ''
  for (const name of Object.keys(headers)) {
    const line = `${name}: ${headers[name]}`
    if (!FIELD_LINE.test(line)) return null
    lines += `${line}\r\n`
  }
  return lines
}
