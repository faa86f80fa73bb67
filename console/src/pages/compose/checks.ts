import type { Preflight } from '../../../../client/src/api.ts'
import type { Fields } from '../../kit/drafts.ts'
import { counted, countryName, money } from '../../kit/formats.ts'
import type { Tone } from '../../kit/status-badge.tsx'

/** One line of what a preflight tells. */
export interface Check {
  readonly about: string
  readonly tone: Tone
  readonly verdict: string
  readonly detail?: string
}

/**
 * The lines in the order in which a message takes these steps. What nobody has typed yet is not judged. `isForm`: a field
 * beside the lines says why it is refused.
 */
export function checksOf(preflight: Preflight, given: Fields, isForm: boolean): readonly Check[] {
  return [
    given.from === '' ? waiting('Sender') : sender(preflight, isForm),
    given.to === '' ? waiting('Recipient') : recipient(preflight),
    given.body === '' ? waiting('Text') : text(preflight),
    route(preflight),
    price(preflight),
    headroom(preflight),
    callbackUrl(preflight, isForm),
    ...unknownFields(preflight),
  ]
}

function waiting(about: string): Check {
  return { about, tone: 'neutral', verdict: 'Not given yet' }
}

const SENDERS: Readonly<Record<string, string>> = {
  'short-code': 'Short code',
  e164: 'Number',
  alphanumeric: 'Alphanumeric',
}

/** The reason of a refusal, where no field has it. */
function reason(isForm: boolean, text: string | null) {
  return isForm || text === null ? {} : { detail: text }
}

function sender({ sender }: Preflight, isForm: boolean): Check {
  const about = 'Sender'
  const { type, allowed, errorMessage } = sender
  if (type === null)
    return {
      about,
      tone: 'bad',
      verdict: 'Not a sender',
      ...reason(isForm, 'A name, a number or a short code'),
    }
  const name = SENDERS[type] ?? type
  if (allowed === null)
    return { about, tone: 'neutral', verdict: name, detail: 'Judged once the recipient is valid' }
  if (allowed) return { about, tone: 'good', verdict: `${name}, allowed` }
  return { about, tone: 'bad', verdict: `${name}, not allowed`, ...reason(isForm, errorMessage) }
}

function recipient({ recipient }: Preflight): Check {
  const about = 'Recipient'
  const { valid, msisdn, country, mccmnc, optedOut } = recipient
  const place = [country && countryName(country), mccmnc && `network ${mccmnc}`].filter(Boolean).join(', ')
  if (!valid) {
    const detail = msisdn === null ? 'Write it as +, country code, number' : `Write it as ${msisdn}`
    return { about, tone: 'bad', verdict: 'Not an E.164 number', detail }
  }
  if (optedOut)
    return {
      about,
      tone: 'warning',
      verdict: 'Opted out',
      detail: `The send is accepted, and fails at once with 307. ${place}`.trim(),
    }
  return { about, tone: 'good', verdict: place === '' ? 'Valid' : place }
}

const ENCODINGS = { GSM7: 'GSM 7-bit', UCS2: 'UCS-2' } as const

/** "UCS-2, 2 segments" */
function text({ text }: Preflight): Check {
  const about = 'Text'
  if (text === null) return { about, tone: 'bad', verdict: 'Cannot be sent' }
  const { encoding, segments } = text
  const verdict = `${ENCODINGS[encoding]}, ${counted(segments, 'segment')}`
  return { about, tone: encoding === 'UCS2' ? 'info' : 'good', verdict }
}

function route({ route }: Preflight): Check {
  const about = 'Route'
  if (route === null) return { about, tone: 'neutral', verdict: 'Not known yet' }
  const { name, reason, available } = route
  if (available) return { about, tone: 'good', verdict: name, detail: reason }
  const detail = `${reason}. The message would wait: no carrier of it takes messages now`
  return { about, tone: 'warning', verdict: `${name}, not available`, detail }
}

function price({ charge, sandbox, recipient, text }: Preflight): Check {
  const about = 'Price'
  if (sandbox)
    return { about, tone: 'good', verdict: 'Free', detail: 'A sandbox plan sends to the simulator' }
  if (charge === null) {
    const isTold = recipient.valid && text !== null
    return { about, tone: 'neutral', verdict: isTold ? 'No rate applies' : 'Not known yet' }
  }
  const { price, ptf, currency } = charge
  return {
    about,
    tone: 'good',
    verdict: price === null ? 'None' : money(price, currency),
    ...(ptf !== null && { detail: `and a pass-through fee of ${money(ptf, currency)}` }),
  }
}

function headroom({ headroom }: Preflight): Check {
  const about = 'Rate limit'
  if (headroom === null) return { about, tone: 'neutral', verdict: 'Not known yet' }
  const { messages, limitedBy } = headroom
  if (messages === null) return { about, tone: 'good', verdict: 'None' }
  const verdict = `${counted(messages, 'message')} now`
  return {
    about,
    tone: messages === 0 ? 'warning' : 'good',
    verdict,
    ...(limitedBy !== null && { detail: `The limit of the ${limitedBy}` }),
  }
}

function callbackUrl({ callbackUrl }: Preflight, isForm: boolean): Check {
  const about = 'Receipts'
  if (callbackUrl === null)
    return {
      about,
      tone: 'neutral',
      verdict: 'No callback URL',
      detail: 'The default of the account, if any',
    }
  if (callbackUrl.allowed) return { about, tone: 'good', verdict: 'Callback URL allowed' }
  return {
    about,
    tone: 'bad',
    verdict: 'Callback URL refused',
    ...reason(isForm, callbackUrl.message),
  }
}

function unknownFields({ unknownFields }: Preflight): readonly Check[] {
  return unknownFields.map(({ field, suggestion }) => ({
    about: 'Field',
    tone: 'warning' as const,
    verdict: `${field} is ignored`,
    ...(suggestion !== null && { detail: `Do you mean ${suggestion}?` }),
  }))
}
