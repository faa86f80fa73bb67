/** What became of an attempt of a webhook, as the API has it. */
interface Outcome {
  readonly error: string | null
  readonly responseStatus: number | null
}

const WORDS: Readonly<Record<string, string>> = {
  RESPONSE_TIMEOUT: 'The receiver did not answer in 15 s.',
  RESPONSE_TOO_LARGE: 'The head of the answer was too long.',
  CONNECTION_RESET: 'The connection ended before there was an answer.',
  PROTOCOL_ERROR: 'The answer was not HTTP.',
  CONNECT_REFUSED: 'The receiver refused the connection: nothing listens on that port.',
  CONNECT_UNREACHABLE: 'There is no way to the receiver’s address.',
  CONNECT_TIMEOUT: 'There was no connection in 5 s.',
  CONNECT_FAILED: 'There was no connection.',
  TLS_HANDSHAKE: 'TLS 1.2 or newer could not be agreed on.',
  TLS_CERTIFICATE_EXPIRED: 'The certificate of the receiver has expired.',
  TLS_CERTIFICATE_UNTRUSTED: 'The certificate of the receiver is of no authority that is trusted.',
  TLS_HOSTNAME_MISMATCH: 'The certificate of the receiver is for another host.',
  DNS_NOT_FOUND: 'The host has no address.',
  DNS_TIMEOUT: 'The name servers of the host did not answer in time.',
  DNS_FAILURE: 'The name servers of the host failed.',
  FORBIDDEN_URL: 'The URL is not allowed any more.',
  FORBIDDEN_ADDRESS: 'The host has an address that is not public.',
  QUEUE_TIMEOUT: 'It waited too long here for its turn. This says nothing about the receiver.',
  QUEUE_FULL: 'Too much was waiting here. This says nothing about the receiver.',
  INVALID_REQUEST: 'The request could not be made: check the URL and the headers of the account.',
}

/** Why an attempt failed, in a sentence; that it did not, where there is no error. */
export function attemptInWords({ error, responseStatus }: Outcome): string {
  if (error === null) return 'The receiver took it.'
  if (error === 'REDIRECT')
    return `The receiver redirected it (${responseStatus}). Redirects are not followed.`
  if (error === 'HTTP_STATUS') return statusInWords(responseStatus)
  return WORDS[error] ?? `It failed: ${error}.`
}

function statusInWords(status: number | null): string {
  if (status === 410) return 'The receiver answered 410: it wants no more of these.'
  if (status === 401 || status === 403)
    return `The receiver answered ${status}: check the credentials and headers.`
  if (status === 404 || status === 405) return `The receiver answered ${status}: check the path of the URL.`
  if (status === 429) return 'The receiver answered 429: too many at once.'
  return `The receiver answered ${status}. Only 2xx is a success.`
}
