import type { IncomingMessage } from 'node:http'
import { type Fault, fault, WHOLE_REQUEST } from '../../errors.ts'

/** uri-host, or an IP literal in brackets, and a port (RFC 9110 §7.2, RFC 3986 §3.2.2); empty where a target has no host. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-fv:.]+\])(?::[0-9]*)?$/

const VERSION = fault(WHOLE_REQUEST, 'MALFORMED_HTTP', 'must be HTTP/1.1')
const TRANSFER_CODING = fault('Transfer-Encoding', 'NOT_ALLOWED', 'must be chunked, of HTTP/1.1')
const HOSTS = fault('Host', 'REQUIRED', 'must be given once')
const BAD_HOST = fault('Host', 'INVALID_FORMAT', 'must be a host, and a port if any')
const FRAGMENT = fault(WHOLE_REQUEST, 'MALFORMED_URL', 'must not have a fragment')

type Message = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersion' | 'url'>

/** What is wrong with a message that Node's parser lets through (RFC 9112); null when nothing is. */
export function messageFault({ headers, rawHeaders, httpVersion, url = '' }: Message): Fault | null {
  const isOld = httpVersion === '1.0'
  // §2.3: the parser takes 0.9 and 2.0 for the same syntax.
  if (!isOld && httpVersion !== '1.1') return VERSION
  // §6.1: with another coding we would read compressed bytes as the body; HTTP/1.0 has no codings at all.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) return TRANSFER_CODING
  // §3.2: none, or more than one, or an invalid one, is 400.
  const hosts = countHeader(rawHeaders, 'host')
  if (hosts !== 1 && !(isOld && hosts === 0)) return HOSTS
  if (!HOST.test(headers.host ?? '')) return BAD_HOST
  // §3.2: a request target has no fragment. The router would cut it off, but other servers on the way need not.
  return url.includes('#') ? FRAGMENT : null
}

/**
 * How often a header was sent. If a header may occur only once (Host, Authorization, Content-Type …), Node keeps the
 * first and drops the rest, while a proxy in front may have used the last. `name` in lower case.
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]!
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count
}
