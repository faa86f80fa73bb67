import { countryOf } from '../../domain/countries.ts'
import type { SendRequest } from '../../domain/send-requests.ts'
import { countSegments } from '../../domain/text/segments.ts'
import { requestService } from '../admin/client.ts'
import type { Fields } from '../admin/printing.ts'
import type { CampaignLine } from './campaign-lines.ts'
import type { EarlierResults } from './result-file.ts'
import type { Access } from './send-attempts.ts'

/** Everything about a file that can be known before the first message is sent. */

const MOST_FAULTS = 1_000
/** Most countries for which the service is asked about a message. It allows 20 preflights a second. */
const MOST_SAMPLES = 10

const CHANGED = 'was sent already, with another text or other options'

interface Country {
  readonly country: string
  messages: number
  segments: number
  ucs2: number
  /** The first message. */
  readonly sample: CampaignLine
}

/** Messages that are still to be sent: what earlier runs did is not counted. */
export interface Summary {
  readonly messages: number
  readonly segments: number
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
  return { messages: sum(all, 'messages'), segments: sum(all, 'segments'), countries: all }
}

function tally(countries: Map<string, Country>, line: CampaignLine): void {
  const country = countryOf(line.sms.to) ?? 'other'
  const known = countries.get(country) ?? { country, messages: 0, segments: 0, ucs2: 0, sample: line }
  const { encoding, segments } = countSegments(line.sms.body)
  known.messages += 1
  known.segments += segments
  if (encoding === 'UCS2') known.ucs2 += 1
  countries.set(country, known)
}

function sum(countries: readonly Country[], field: 'messages' | 'segments'): number {
  return countries.reduce((total, country) => total + country[field], 0)
}

interface Preflight {
  readonly refusal: {
    readonly errorCode: string
    readonly errorMessage: string
    readonly errors?: readonly { readonly field: string; readonly message: string }[]
  } | null
  readonly route: { readonly name: string } | null
  readonly charge: { readonly price: number; readonly currency: string } | null
}

/** A country as the table of a dry run shows it. `refusal` null: a message would be accepted, or none was asked about. */
export interface Sampled extends Fields {
  readonly refusal: string | null
}

/** Asks the service about a message to each of the countries with most messages. @throws Error if it cannot be asked */
export async function sampleCountries(access: Access, { countries }: Summary): Promise<Sampled[]> {
  const rows: Sampled[] = []
  for (const [index, { sample, ...counts }] of countries.entries()) {
    const { sms, line } = sample
    if (index >= MOST_SAMPLES) rows.push({ ...counts, refusal: null })
    else rows.push({ ...counts, line, ...shown(await ask(access, sms)) })
  }
  return rows
}

async function ask(access: Access, sms: SendRequest): Promise<Preflight> {
  return (await requestService(access, 'POST', '/v1/sendsms/preflight', sms)) as Preflight
}

function shown({ refusal, route, charge }: Preflight) {
  const faults = refusal?.errors?.map(({ field, message }) => `${field} ${message}`).join('; ')
  return {
    route: route?.name ?? null,
    price: charge && `${charge.price} ${charge.currency}`,
    refusal: refusal && `${refusal.errorCode}: ${faults || refusal.errorMessage}`,
  }
}
