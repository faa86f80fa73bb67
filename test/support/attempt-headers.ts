import type { ReceivedWebhook } from './webhook-receiver.ts'

const OF_CONNECTION_AND_BODY = ['host', 'connection', 'content-length']
const SECRET = ['webhook-signature', 'authorization', 'x-api-key']

/** The headers that came, as the record of the attempt has to show them; names in lower case. */
export function headersToShow({ headers }: ReceivedWebhook): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => !OF_CONNECTION_AND_BODY.includes(name))
  return Object.fromEntries(shown.map(([name, value]) => [name, SECRET.includes(name) ? '***' : value]))
}

/** Those of the record, with names in lower case. */
export function foldedNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
