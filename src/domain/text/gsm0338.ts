import { DEFAULT_LANGUAGE, type Language, lockingTable, singleTable } from './gsm-national-tables.ts'

/**
 * GSM 7-bit default alphabet and its extension table (3GPP TS 23.038 §6.2.1, the old GSM 03.38), unpacked: one septet
 * in each octet, as SMPP carries it (data_coding 0).
 */

/** Announces a character of the extension table (3GPP 23.038 §6.2.1.1). */
export const ESCAPE = 0x1b

/** Code n is the n-th character; the ESC position holds a space, which is how a lone ESC is shown. */
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅå' +
  'Δ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ' +
  ' !"#¤%&\'()*+,-./' +
  '0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNO' +
  'PQRSTUVWXYZÄÖÑÜ§' +
  '¿abcdefghijklmno' +
  'pqrstuvwxyzäöñüà'

const EXTENSION: ReadonlyArray<readonly [code: number, character: string]> = [
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]

const EXTENSION_CHARACTERS = new Map<number, string>(EXTENSION)

/** The highest code unit of all tables: infinity, in the Portuguese locking shift table. */
const HIGHEST_UNIT = 0x221e

/** Code unit -> septets it takes (1, or 2 with ESC) times 256, and its last septet; 0: no code. */
export type GsmAlphabet = Uint16Array

const ALPHABETS = new Map<string, GsmAlphabet>()

/** The alphabet that a text with these tables is written in; a table that does not exist is the default one. */
export function gsmAlphabet(language: Language): GsmAlphabet {
  if (language === DEFAULT_LANGUAGE) return DEFAULT_GSM
  const key = `${language.locking} ${language.single}`
  let alphabet = ALPHABETS.get(key)
  if (alphabet === undefined) {
    alphabet = buildAlphabet(language)
    ALPHABETS.set(key, alphabet)
  }
  return alphabet
}

export const DEFAULT_GSM = buildAlphabet(DEFAULT_LANGUAGE)

/** The shortest of several codes of a character counts. */
function buildAlphabet({ locking, single }: Language): GsmAlphabet {
  const entries = new Uint16Array(HIGHEST_UNIT + 1)
  const add = (character: string, septets: number, code: number) => {
    entries[character.charCodeAt(0)] ||= (septets << 8) | code
  }
  add(' ', 1, 0x20) // before the spaces that stand where a table has no character
  const characters = lockingTable(locking) ?? DEFAULT_ALPHABET
  for (let code = 0; code < characters.length; code += 1)
    if (code !== ESCAPE) add(characters[code] as string, 1, code)
  for (const [code, character] of [...EXTENSION, ...(singleTable(single) ?? [])]) add(character, 2, code)
  return entries
}

/** Septets a UTF-16 code unit takes: 1, 2 (behind ESC), or 0 when the alphabet has no such character. */
export function septetsOf(unit: number, alphabet: GsmAlphabet = DEFAULT_GSM): 0 | 1 | 2 {
  return unit <= HIGHEST_UNIT ? (((alphabet[unit] as number) >> 8) as 0 | 1 | 2) : 0
}

/** Encodes to one septet per octet; null when a character has no code. */
export function encodeGsm(text: string, alphabet: GsmAlphabet = DEFAULT_GSM): Buffer | null {
  const bytes = Buffer.allocUnsafe(text.length * 2)
  let length = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    const septets = septetsOf(unit, alphabet)
    if (septets === 0) return null
    if (septets === 2) bytes[length++] = ESCAPE
    bytes[length++] = (alphabet[unit] as number) & 0x7f
  }
  return bytes.subarray(0, length)
}

/**
 * Decodes one septet per octet, with the national tables that `language` names; a table that does not exist is the
 * default one. Never throws: ESC at the end or before another ESC is a space, ESC before a code that the extension (or
 * single shift) table lacks is read as the character without ESC (3GPP 23.038 §6.2.1.1), and an octet above 0x7F, which no
 * septet can be, is taken for Latin-1, the alphabet that SMSCs without a GSM one send under data_coding 0.
 */
export function decodeGsm(bytes: Uint8Array, language: Language = DEFAULT_LANGUAGE): string {
  const alphabet = lockingTable(language.locking) ?? DEFAULT_ALPHABET
  const national = singleTable(language.single)
  let text = ''
  for (let index = 0; index < bytes.length; index += 1) {
    let code = bytes[index] as number
    if (code === ESCAPE && index + 1 < bytes.length) {
      index += 1
      code = bytes[index] as number
      const extended = national?.get(code) ?? EXTENSION_CHARACTERS.get(code)
      if (extended !== undefined) {
        text += extended
        continue
      }
    }
    text += code < 0x80 ? alphabet[code] : String.fromCharCode(code)
  }
  return text
}
