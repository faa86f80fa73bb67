import { type Fault, fault } from '../errors.ts'
import type { OptOutSettings } from './configuration/configuration.ts'
import { MAX_BODY_CHARACTERS } from './messages/messages.ts'

/** STOP, START and HELP: what a person asks one of our numbers for (docs/opt-outs.md). */

export type OptOutRequest = 'stop' | 'start' | 'help'

/** The words that carriers and providers act on, with those of 47 CFR 64.1200(a)(10). */
export const DEFAULT_OPT_OUT: OptOutSettings = {
  stopWords: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE'],
  startWords: ['START', 'UNSTOP', 'YES'],
  helpWords: ['HELP', 'INFO'],
  stopReply: null,
  startReply: null,
  helpReply: null,
}

export const MAX_WORDS = 50
export const MAX_WORD_CHARACTERS = 32

/** Room for a word and all that a person may put around it. Longer messages say something else. */
const MAX_REQUEST_LENGTH = 160

const LISTS = [
  ['stopWords', 'stop'],
  ['startWords', 'start'],
  ['helpWords', 'help'],
] as const
const REPLIES = ['stopReply', 'startReply', 'helpReply'] as const

/** Cached by settings, of which a directory has one object for as long as it is current. */
const requestsByWord = new WeakMap<OptOutSettings, ReadonlyMap<string, OptOutRequest>>()

/**
 * What the message asks for, if it is, as a whole, one of the words. Case, width, spaces, punctuation and symbols are
 * ignored ("Stop!", "opt-out", "“STOP ALL” 🙏"). Another word counts: "STOP please" is for people to read, or a word of
 * the plan's own, since "stop by at 5", "cancel my order" and "end of the month?" begin alike.
 */
export function optOutRequest(text: string, settings: OptOutSettings): OptOutRequest | null {
  if (text.length > MAX_REQUEST_LENGTH) return null
  let requests = requestsByWord.get(settings)
  if (requests === undefined) {
    requests = new Map(LISTS.flatMap(([list, kind]) => settings[list].map((word) => [core(word), kind])))
    requestsByWord.set(settings, requests)
  }
  return requests.get(core(text)) ?? null
}

/** The text that answers the request; null: none. */
export function replyTo(request: OptOutRequest, settings: OptOutSettings): string | null {
  return settings[`${request}Reply`]
}

/**
 * Settings that are not in `change` keep their values. If there are none, the words are those of the field, without replies.
 * Null: STOP, START and HELP are ordinary messages.
 */
export function completeOptOut(
  change: Partial<OptOutSettings> | null,
  present: OptOutSettings | null,
): OptOutSettings | null {
  return change && { ...(present ?? DEFAULT_OPT_OUT), ...change }
}

/**
 * Faults of `optOut` that a schema cannot see: words without a letter or digit, repeated words, and texts that cannot be
 * sent.
 */
export function optOutFaults(settings: OptOutSettings): Fault[] {
  const faults: Fault[] = []
  const seen = new Set<string>()
  for (const [list] of LISTS) {
    for (const [index, word] of settings[list].entries()) {
      const field = `optOut.${list}.${index}`
      if (core(word) === '' || /[\p{Cc}\p{Cs}]/u.test(word))
        faults.push(
          fault(field, 'INVALID_FORMAT', 'must have a letter or a digit, and no control characters'),
        )
      else if (seen.has(core(word)))
        faults.push(fault(field, 'REPEATED', 'must differ from every other word'))
      seen.add(core(word))
    }
  }
  for (const reply of REPLIES) {
    const text = settings[reply]
    if (text === null) continue
    if ([...text].length > MAX_BODY_CHARACTERS) {
      faults.push(fault(`optOut.${reply}`, 'TOO_LONG', `must have at most ${MAX_BODY_CHARACTERS} characters`))
    }
    if (!text.isWellFormed() || text.includes('\u0000')) {
      faults.push(fault(`optOut.${reply}`, 'INVALID_TEXT', 'must be well-formed Unicode without U+0000'))
    }
  }
  return faults
}

/** Letters and digits in one case and width, with the marks that belong to them. */
function core(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]|\p{Variation_Selector}|\p{Me}/gu, '')
}

// Keywords of inbound (MO) messages.

/**
 * The configured keyword, in its configured spelling, that equals the first token of the text, case-insensitively; null
 * when none does. White space ends a token. Punctuation after it is ignored ("Stop!" is STOP) unless a keyword is
 * configured with it.
 */
export function matchKeyword(text: string, keywords: readonly string[]): string | null {
  const token = /^\s*(\S+)/.exec(text)?.[1]
  if (token === undefined) return null
  return find(folded(token), keywords) ?? find(withoutPunctuation(folded(token)), keywords)
}

function find(token: string, keywords: readonly string[]): string | null {
  if (token === '') return null
  return keywords.find((keyword) => folded(keyword.trim()) === token) ?? null
}

function folded(word: string): string {
  return word.normalize('NFC').toLowerCase()
}

function withoutPunctuation(token: string): string {
  let end = token.length
  while (end > 0 && '.,;:!?"\')'.includes(token[end - 1] as string)) end -= 1
  return token.slice(0, end)
}
