/** Cases of vectors/bad-input.json (B…) and bad-input-more.json (M…): what a client may send wrongly, and the answer. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hashToken, makeToken } from '../../src/domain/credentials.ts'
import {
  PLAN,
  PLAN_INACTIVE,
  PLAN_INCOMPLETE,
  PLAN_OTHER,
  PLAN_SECOND,
  PLAN_SHORT_CODES,
  SENDER,
  SENDER_OTHER,
  TOKEN,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from './http-service.ts'

/** One HTTP request. `{{NAME}}` stands for what only the run knows. */
export interface BadInput {
  id: string
  area: string
  request: {
    method: string
    path: string
    headers?: Record<string, string>
    body?: unknown
    rawBody?: string | { hex: string }
  }
  expect: { status: number[]; errorCode?: string; errorsFields?: string[]; invariant?: string }
  note?: string
}

/** Bytes or connections rather than a request; its test is written by hand. */
export interface BadTransport {
  id: string
  request: { transport: string }
  expect: { status?: number[]; invariant?: string }
}

/** Written to the socket as they are: the status of the one answer, or of each. */
export interface BadBytes {
  id: string
  request: { transport: string; bytes: string }
  expect: { status: number[] } | { sequence: number[] }
}

/** What a client does over several requests; its test is written by hand. */
export interface BadScenario {
  id: string
  area: string
  request: { scenario: string }
  expect: { invariant: string }
}

type AnyInput = BadInput | BadTransport | BadBytes | BadScenario

function vectorsOf(name: string): readonly AnyInput[] {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))
}

function having<T extends AnyInput>(cases: readonly AnyInput[], name: string): readonly T[] {
  return cases.filter(({ request }) => name in request) as readonly AnyInput[] as readonly T[]
}

/** Without those of SMPP: test/scenarios runs them from a list of their own. */
export const ALL_INPUTS = ['bad-input', 'bad-input-more']
  .flatMap(vectorsOf)
  .filter((input) => !('area' in input && input.area === 'smpp'))
/** In bad-input.test.ts. */
export const BAD_INPUTS = having<BadInput>(ALL_INPUTS, 'path')
/** In bad-bytes.test.ts. */
export const BAD_BYTES = having<BadBytes>(ALL_INPUTS, 'bytes')
export const BAD_TRANSPORTS = having<BadTransport>(ALL_INPUTS, 'transport').filter(
  ({ request }) => !('bytes' in request),
)
/** In request-records.test.ts. */
export const BAD_SCENARIOS = having<BadScenario>(ALL_INPUTS, 'scenario')

type Values = ReadonlyMap<string, string>

/** What the placeholders stand for, as far as it does not come from answers of the run. */
export const FIXED_VALUES: Values = new Map([
  ['PLAN', PLAN],
  ['PLAN_UPPER', PLAN.toUpperCase()],
  ['PLAN_SECOND', PLAN_SECOND],
  ['PLAN_INACTIVE', PLAN_INACTIVE],
  ['PLAN_INCOMPLETE', PLAN_INCOMPLETE],
  ['PLAN_SHORT_CODES', PLAN_SHORT_CODES],
  ['PLAN_OTHER', PLAN_OTHER],
  ['SENDER', SENDER],
  ['SENDER_OTHER', SENDER_OTHER],
  ['TOKEN', TOKEN],
  ['TOKEN[:-1]', TOKEN.slice(0, -1)],
  ['TOKEN_UPPERCASED', TOKEN.toUpperCase()],
  ['TOKEN_LIMITED', TOKEN_LIMITED],
  ['TOKEN_OTHER', TOKEN_OTHER],
  ['TOKEN_REVOKED', makeToken(randomBytes(32))],
  ['TOKEN_HASH', hashToken(TOKEN)],
])

/** Placeholders that are none of ours stay: `{{7*7}}` is a text like any other. `{{repeat:3:ab}}` is `ababab`. */
export function fill(text: string, values: Values): string {
  return text
    .replace(/\{\{repeat:(\d+):(.+?)\}\}/g, (_whole, count: string, part: string) =>
      part.repeat(Number(count)),
    )
    .replace(/\{\{([A-Z0-9_]+(?:\[:-1\])?)\}\}/g, (whole, name: string) => values.get(name) ?? whole)
}

export function bodyOf({ body, rawBody }: BadInput['request'], values: Values): string | Buffer | undefined {
  if (typeof rawBody === 'string') return fill(rawBody, values)
  if (rawBody !== undefined) return Buffer.from(rawBody.hex, 'hex')
  return body === undefined ? undefined : fill(JSON.stringify(body), values)
}

const VALID: Readonly<Record<string, unknown>> = {
  servicePlanId: '{{PLAN}}',
  channel: 'SMS',
  from: '{{SENDER}}',
  to: '+15551230001',
  body: 'hello',
}
const LONGEST = 80

/** A name for the case: `POST /v1/sendsms with channel "MMS" is answered 400 for channel (B064)`. */
export function sentenceOf({ id, area, note, request, expect }: BadInput): string {
  const fields = expect.errorsFields === undefined ? '' : ` for ${expect.errorsFields.join(', ')}`
  const what = note ?? oddityOf(request)
  const path = request.path.split('?')[0]!
  const answer = `${expect.status.join(' or ')}${fields}`
  return shown(
    `${request.method} ${cut(path)}, ${area}${what === '' ? '' : `: ${what}`}: is answered ${answer} (${id})`,
  )
}

/** What is not as in a valid request, as far as it has no words of its own. */
function oddityOf({ path, headers = {}, body, rawBody }: BadInput['request']): string {
  if (typeof rawBody === 'string') return cut(rawBody)
  if (rawBody !== undefined) return cut(`bytes ${rawBody.hex}`)
  if (typeof body !== 'object' || body === null) return cut(path.split('?')[1] ?? '')
  const odd = Object.entries(body).filter(([name, value]) => VALID[name] !== value)
  const absent = Object.keys(VALID).filter((name) => !(name in body))
  return [
    ...odd.map(([name, value]) => `${name} ${cut(JSON.stringify(value))}`),
    ...absent.map((name) => `no ${name}`),
    ...(odd.length + absent.length > 0 ? [] : [cut(JSON.stringify(headers))]),
  ].join(', ')
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} …`
}

/** Nothing in it that a terminal obeys. */
function shown(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
}
