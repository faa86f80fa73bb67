import { setTimeout as wait } from 'node:timers/promises'
import type { SendRequest } from '../../domain/messages/send-requests.ts'
import { countryOf } from '../../domain/routing/recipients.ts'
import { PLAIN_TEXT, type TextSettings } from '../../domain/text/encoding-choice.ts'
import { countSegments } from '../../domain/text/segments.ts'
import { AdminRefusal, requestService } from '../admin/client.ts'
import type { Fields } from '../admin/printing.ts'
import type { CampaignLine } from './campaign-lines.ts'
import type { EarlierResults } from './result-file.ts'
import { type Access, backoffAfter, isFinal } from './send-attempts.ts'

/** Everything about a file that can be known before the first message is sent. */

const MOST_FAULTS = 1_000
/** Most countries for which the service is asked about a message. It allows 20 preflights a second. */
const MOST_SAMPLES = 10

const CHANGED = 'was sent already, with another text or other options'

/** How many segments messages have, and how many messages are in UCS-2. */
interface Texts {
  segments: number
  ucs2: number
}

interface Country {
  readonly country: string
  messages: number
  readonly plain: Texts
  /** With smart encoding, if the plan has it: the service says so only later. */
  readonly smart: Texts
  /** The first message. */
  readonly sample: CampaignLine
}

/** Messages that are still to be sent: what earlier runs did is not counted. */
export interface Summary {
  readonly messages: number
  readonly countries: readonly Country[]
}

/** Reads all lines. @throws Error with all faults, up to 1,000, each as `file:line: what` */
export async function checkLines(
  file: string,
  lines: AsyncIterable<CampaignLine>,
  earlier: EarlierResults,
): Promise<Summary> {
  const countries = new Map<string, Country>()
  const faults: string[] = []
  let faulty = 0
  for await (const line of lines) {
    const found = earlier.isChanged(line) ? [...line.faults, CHANGED] : line.faults
    if (found.length > 0) {
      faulty += 1
      if (faults.length < MOST_FAULTS) faults.push(`${file}:${line.line}: ${found.join('; ')}`)
    } else if (earlier.isOpen(line)) tally(countries, line)
  }
  if (faulty > faults.length) faults.push(`and ${faulty - faults.length} more lines`)
  if (faulty > 0) throw new Error(`nothing was sent\n${faults.join('\n')}`)
  const all = [...countries.values()].sort((a, b) => b.messages - a.messages)
  return { messages: all.reduce((total, { messages }) => total + messages, 0), countries: all }
}

const SMART: TextSettings = { ...PLAIN_TEXT, smartEncoding: true }

function tally(countries: Map<string, Country>, line: CampaignLine): void {
  const country = countryOf(line.sms.to) ?? 'other'
  const none = () => ({ segments: 0, ucs2: 0 })
  const known = countries.get(country) ?? { country, messages: 0, plain: none(), smart: none(), sample: line }
  known.messages += 1
  count(known.plain, line.sms.body, PLAIN_TEXT)
  count(known.smart, line.sms.body, SMART)
  countries.set(country, known)
}

function count(texts: Texts, body: string, settings: TextSettings): void {
  const { encoding, segments } = countSegments(body, settings)
  texts.segments += segments
  if (encoding === 'UCS2') texts.ucs2 += 1
}

interface Preflight {
  readonly refusal: {
    readonly errorCode: string
    readonly errorMessage: string
    readonly errors?: readonly { readonly field: string; readonly message: string }[]
  } | null
  readonly route: { readonly name: string } | null
  readonly text: { readonly smartReplacements: readonly object[] } | null
  readonly charge: { readonly price: number; readonly currency: string } | null
}

/** A country as the table of a dry run shows it. `refusal` null: a message would be accepted, or none was asked about. */
export interface Sampled extends Fields {
  readonly segments: number
  readonly refusal: string | null
}

/** Asks the service about a message to each of the countries with most messages. @throws Error if it cannot be asked */
export async function sampleCountries(access: Access, { countries }: Summary): Promise<Sampled[]> {
  const [first] = countries
  if (first === undefined) return []
  const isSmart = await hasSmartEncoding(access, first.sample.sms)
  const rows: Sampled[] = []
  for (const [index, { country, messages, plain, smart, sample }] of countries.entries()) {
    const counts = { country, messages, ...(isSmart ? smart : plain) }
    const { sms, line } = sample
    if (index >= MOST_SAMPLES) rows.push({ ...counts, refusal: null })
    else rows.push({ ...counts, line, ...shown(await ask(access, sms)) })
  }
  return rows
}

/** A quotation mark that only smart encoding replaces. */
const CURLY = '\u201c'

async function hasSmartEncoding(access: Access, sms: SendRequest): Promise<boolean> {
  const { text } = await ask(access, { ...sms, body: CURLY })
  return text !== null && text.smartReplacements.length > 0
}

/** How long the service is asked again while it cannot be reached. */
const PATIENCE_MS = 30_000

async function ask(access: Access, sms: SendRequest): Promise<Preflight> {
  const startedAtMs = Date.now()
  for (let failures = 0; ; failures += 1)
    try {
      return (await requestService(access, 'POST', '/v1/sendsms/preflight', sms)) as Preflight
    } catch (error) {
      const { cause, message } = error as Error
      const isLasting = error instanceof AdminRefusal ? isFinal(error.status) : cause === undefined
      const backoffMs = backoffAfter(failures)
      if (isLasting || Date.now() + backoffMs - startedAtMs > PATIENCE_MS) throw error
      if (failures === 0) process.stderr.write(`${message}; retrying for ${PATIENCE_MS / 1_000} s\n`)
      await wait(backoffMs)
    }
}

function shown({ refusal, route, charge }: Preflight) {
  const faults = refusal?.errors?.map(({ field, message }) => `${field} ${message}`).join('; ')
  return {
    route: route?.name ?? null,
    price: charge && `${charge.price} ${charge.currency}`,
    refusal: refusal && `${refusal.errorCode}: ${faults || refusal.errorMessage}`,
  }
}
