/** What `aldis listen` prints of a webhook. */

import { shownText } from './admin/printing.ts'

export type Signature = 'unchecked' | 'valid' | 'wrong' | 'missing'

export interface ReceivedWebhook {
  readonly at: Date
  /** The request target. */
  readonly path: string
  readonly body: string
  readonly signature: Signature
}

/**
 * One line, its end included: for programs a JSON object `{ receivedAt, path, signature, webhook }`, where `webhook` is
 * the parsed body (its text when it is not JSON); for people the time (UTC), the kind and what matters of it.
 */
export function describeWebhook(received: ReceivedWebhook, json: boolean): string {
  const { at, path, body, signature } = received
  const webhook = parsed(body)
  if (json) return `${JSON.stringify({ receivedAt: at.toISOString(), path, signature, webhook })}\n`
  const time = at.toISOString().slice(11, 23)
  const judged = signature === 'unchecked' ? '' : `  signature ${signature}`
  return `${time}  ${described(webhook, path)}${judged}\n`
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function described(webhook: unknown, path: string): string {
  if (typeof webhook !== 'object' || webhook === null) return `other    ${shown(path)}  ${shown(webhook)}`
  const { direction, msgId, status, from, to, body, keyword, errorCode, errorMessage, type, text } =
    webhook as Record<string, unknown>
  if (direction === 'MO') {
    const word = keyword === undefined ? '' : `  keyword ${shown(keyword)}`
    return `inbound  ${plain(msgId)}  ${plain(from)} -> ${plain(to)}  ${shown(body)}${word}`
  }
  if (typeof type === 'string' && typeof text === 'string') return `limit    ${plain(type)}  ${shown(text)}`
  if (msgId === undefined || status === undefined) return `other    ${shown(path)}  ${shown(webhook)}`
  const failure =
    errorCode === undefined || errorCode === '000' ? '' : `  ${plain(errorCode)} ${shown(errorMessage)}`
  return `receipt  ${plain(msgId)}  ${plain(status)}${failure}`
}

/** A name or number stands as it is, anything unexpected as JSON. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : shown(value)
}

/** As JSON, without characters that a terminal obeys: controls, and marks that turn the direction of text. */
function shown(value: unknown): string {
  return shownText(JSON.stringify(value) ?? 'nothing')
}
