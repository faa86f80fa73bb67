import { inSequence } from './concatenation.ts'
import { DEFAULT_LANGUAGE, type Language, sameLanguage } from './gsm-national-tables.ts'
import { decodeGsm } from './gsm0338.ts'

/** Text of an inbound (MO) message from its octets and data_coding (SMPP 3.4 §5.2.19, 3GPP TS 23.038 §4). */

type Alphabet = 'gsm' | 'latin1' | 'binary' | 'ucs2' | 'iso-8859-5' | 'iso-8859-8' | 'iso-2022-jp' | 'euc-kr'

/** SMPP's own values. A value up to 0x0F that is not listed is read as Latin-1. */
const SMPP_ALPHABETS = new Map<number, Alphabet>([
  [0x00, 'gsm'],
  [0x01, 'latin1'], // IA5 (ASCII) is the lower half of Latin-1
  [0x02, 'binary'],
  [0x03, 'latin1'],
  [0x04, 'binary'],
  [0x06, 'iso-8859-5'],
  [0x07, 'iso-8859-8'],
  [0x08, 'ucs2'],
  [0x0a, 'iso-2022-jp'],
  [0x0e, 'euc-kr'],
])

/** Bits 3-2 of the general data coding groups. */
const GENERAL_GROUP_ALPHABETS: readonly Alphabet[] = ['gsm', 'binary', 'ucs2', 'latin1']

/** Controls that occur in text: tab, line feed, carriage return. */
const CONTROL_OCTETS_OF_TEXT = new Set([0x09, 0x0a, 0x0d])

/**
 * Decodes the content of one message; `language` matters to the GSM alphabet only. Never throws; the result is
 * well-formed Unicode without U+0000, which PostgreSQL's text type cannot hold. Lone surrogates become U+FFFD, an odd
 * last octet of UCS-2 is dropped.
 */
export function decodeInbound(
  bytes: Uint8Array,
  dataCoding: number,
  language: Language = DEFAULT_LANGUAGE,
): string {
  return decodeAlphabet(bytes, alphabetOf(dataCoding), language).replaceAll('\0', '').toWellFormed()
}

/**
 * Decodes a message that came in parts, in any order, some perhaps missing. Octets are joined before they are
 * decoded, because senders split surrogate pairs and escape sequences between parts; only where neighbours
 * differ in data_coding or, under the GSM alphabet, in language is each run decoded by itself.
 */
export function decodeInboundParts(
  parts: ReadonlyArray<{ sequence: number; payload: Uint8Array; dataCoding: number; language?: Language }>,
): string {
  let text = ''
  let run: Uint8Array[] = []
  let runCoding = 0
  let runLanguage = DEFAULT_LANGUAGE
  for (const { payload, dataCoding, language = DEFAULT_LANGUAGE } of inSequence(parts)) {
    const continues =
      dataCoding === runCoding && (alphabetOf(dataCoding) !== 'gsm' || sameLanguage(language, runLanguage))
    if (run.length > 0 && !continues) {
      text += decodeInbound(Buffer.concat(run), runCoding, runLanguage)
      run = []
    }
    run.push(payload)
    runCoding = dataCoding
    runLanguage = language
  }
  return text + decodeInbound(Buffer.concat(run), runCoding, runLanguage)
}

function alphabetOf(dataCoding: number): Alphabet {
  if (dataCoding <= 0x0f) return SMPP_ALPHABETS.get(dataCoding) ?? 'latin1'
  // General groups 00xx and 01xx. The compression flag (bit 5) is not honoured: no network compresses (23.042).
  if (dataCoding <= 0x7f) return GENERAL_GROUP_ALPHABETS[(dataCoding >> 2) & 3] ?? 'latin1'
  if (dataCoding <= 0xbf) return 'latin1'
  if (dataCoding <= 0xdf) return 'gsm' // message waiting, discard or store
  if (dataCoding <= 0xef) return 'ucs2' // message waiting, UCS-2
  return (dataCoding & 0x04) === 0 ? 'gsm' : 'binary' // message class
}

function decodeAlphabet(bytes: Uint8Array, alphabet: Alphabet, language: Language): string {
  switch (alphabet) {
    case 'gsm':
      return decodeGsm(bytes, language)
    case 'latin1':
      return Buffer.from(bytes).toString('latin1')
    case 'binary':
      return decodeBinary(bytes)
    case 'ucs2':
      return decodeUcs2(bytes)
    default:
      return new TextDecoder(alphabet).decode(bytes)
  }
}

/** UTF-16 in network order. A byte order mark is content like any other: the text comes out as it was sent. */
function decodeUcs2(bytes: Uint8Array): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1))
  return even.swap16().toString('utf16le')
}

/** Octets that could be text are read as Latin-1, others are shown in hexadecimal so that nothing is lost. */
function decodeBinary(bytes: Uint8Array): string {
  const isText = bytes.every((octet) => isPrintable(octet) || CONTROL_OCTETS_OF_TEXT.has(octet))
  return Buffer.from(bytes).toString(isText ? 'latin1' : 'hex')
}

function isPrintable(octet: number): boolean {
  return (octet >= 0x20 && octet <= 0x7e) || octet >= 0xa0
}
