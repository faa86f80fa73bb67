import { describe, expect, test } from 'vitest'
import {
  chooseEncoding,
  PLAIN_TEXT,
  roomIn,
  type TextSettings,
} from '../../../src/domain/text/encoding-choice.ts'
import {
  DEFAULT_LANGUAGE,
  type Language,
  NATIONAL_LANGUAGES,
} from '../../../src/domain/text/gsm-national-tables.ts'

type Name = (typeof NATIONAL_LANGUAGES)[number]

function allowing(names: readonly Name[], smartEncoding = false): TextSettings {
  return { smartEncoding, nationalLanguages: names.map((name) => NATIONAL_LANGUAGES.indexOf(name) + 1) }
}

/** `UCS2`, `GSM`, or the tables: `single turkish`, `locking turkish`, `both turkish`. */
function tables(language: Language | null): string {
  if (language === null) return 'UCS2'
  const { locking, single } = language
  const name = NATIONAL_LANGUAGES[(locking ?? single ?? 0) - 1]
  if (name === undefined) return 'GSM'
  if (locking === null) return `single ${name}`
  return single === null ? `locking ${name}` : `both ${name}`
}

/** With more characters, of every alphabet, than one segment of UCS-2 has room for. */
function long(text: string): string {
  return text + '-'.repeat(71)
}

function chosen(text: string, settings: TextSettings): [string, number] {
  const { language, segments } = chooseEncoding(text, settings, 'udh')
  return [tables(language), segments]
}

describe('room in 140 octets', () => {
  const single = { locking: null, single: 1 }
  const both = { locking: 1, single: 1 }

  test.each([
    ['default', DEFAULT_LANGUAGE, { single: 160, concatenated: 153 }, { single: 160, concatenated: 152 }],
    ['one table', single, { single: 155, concatenated: 149 }, { single: 155, concatenated: 148 }],
    ['two tables', both, { single: 152, concatenated: 146 }, { single: 152, concatenated: 145 }],
    ['UCS-2', null, { single: 70, concatenated: 67 }, { single: 70, concatenated: 66 }],
  ])('%s', (_name, language, udh, udh16) => {
    expect(roomIn(language, 'udh')).toEqual(udh)
    expect(roomIn(language, 'udh16')).toEqual(udh16)
    // The SMSC makes headers with 8-bit references of them.
    expect(roomIn(language, 'sar')).toEqual(udh)
    expect(roomIn(language, 'payload')).toEqual(udh)
  })
})

describe('the writing', () => {
  const turkish = allowing(['turkish'])

  test.each<[string, string, TextSettings, string, number]>([
    ['GSM needs no language', 'abc', turkish, 'GSM', 1],
    ['a language that is not allowed', 'ağaç', PLAIN_TEXT, 'UCS2', 1],
    ['another language that is not allowed', 'ağaç', allowing(['spanish', 'hindi']), 'UCS2', 1],
    ['UCS-2 where it takes no more', 'ağaç', turkish, 'UCS2', 1],
    ['UCS-2 up to 70 code units', 'ş'.repeat(70), turkish, 'UCS2', 1],
    ['a language from the 71st on', 'ş'.repeat(71), turkish, 'single turkish', 1],
    ['UCS-2 where a language needs as many', 'á'.repeat(134), allowing(['spanish']), 'UCS2', 2],
    ['a language where it needs fewer', 'á'.repeat(135), allowing(['spanish']), 'single spanish', 2],
    ['single shift before locking', long('ağaç'), turkish, 'single turkish', 1],
    ['single shift of 155 septets', `${'a'.repeat(153)}ş`, turkish, 'single turkish', 1],
    ['locking from the 156th on', `${'a'.repeat(152)}şş`, turkish, 'locking turkish', 1],
    ['two segments where each needs two', `${'a'.repeat(154)}şş`, turkish, 'single turkish', 2],
    ['locking where single shift needs more', 'ş'.repeat(155), turkish, 'locking turkish', 1],
    ['both, where neither has all', long('कख १२'), allowing(['hindi']), 'both hindi', 1],
    ['both hold 152', `१${'क'.repeat(150)}`, allowing(['hindi']), 'both hindi', 1],
    ['the preferred of two languages', long('ç'), allowing(['spanish', 'turkish']), 'single spanish', 1],
    [
      'the preferred of two languages, turned',
      long('ç'),
      allowing(['turkish', 'spanish']),
      'single turkish',
      1,
    ],
    ['the only one that has all', long('çş'), allowing(['spanish', 'turkish']), 'single turkish', 1],
    ['no language has all', long('çşж'), allowing(['spanish', 'turkish']), 'UCS2', 2],
    ['two languages are not mixed', long('क ç'), allowing(['hindi', 'turkish']), 'UCS2', 2],
    ['a language without locking table', 'ñá'.repeat(90), allowing(['spanish']), 'single spanish', 2],
    [
      'a language for extension characters',
      '€'.repeat(100),
      allowing(['portuguese']),
      'locking portuguese',
      1,
    ],
    ['but not where the default needs no more', '€'.repeat(80), allowing(['portuguese']), 'GSM', 1],
  ])('%s', (_name, text, settings, expected, segments) => {
    expect(chosen(text, settings)).toEqual([expected, segments])
    expect(chooseEncoding(text, settings, 'udh').text).toBe(text)
  })

  test('a 16-bit reference can make another number', () => {
    const text = 'a'.repeat(306)
    expect(chooseEncoding(text, PLAIN_TEXT, 'udh').segments).toBe(2)
    expect(chooseEncoding(text, PLAIN_TEXT, 'udh16').segments).toBe(3)
    expect(chooseEncoding('ж'.repeat(134), PLAIN_TEXT, 'udh16').segments).toBe(3)
  })
})

describe('smart encoding', () => {
  test.each<[string, string, Name[], string, string]>([
    ['makes the text GSM', '“Don’t”', [], '"Don\'t"', 'GSM'],
    ['leaves a text that would be UCS-2 all the same', '“Не”', [], '“Не”', 'UCS2'],
    ['leaves a text that is GSM', '"no"', [], '"no"', 'GSM'],
    [
      'leaves a text that a language has as it is',
      long('á`'),
      ['portuguese'],
      long('á`'),
      'locking portuguese',
    ],
    ['GSM before UCS-2', 'it`s', [], "it's", 'GSM'],
    ['GSM before the language that has the character', 'it`s', ['portuguese'], "it's", 'GSM'],
    ['with a language', long('“ağaç”'), ['turkish'], long('"ağaç"'), 'single turkish'],
    ['not where a language saves nothing', '“ağaç”', ['turkish'], '“ağaç”', 'UCS2'],
    ['never costs a segment', '…'.repeat(70), [], '…'.repeat(70), 'UCS2'],
    ['where it costs none', '…'.repeat(53), [], '...'.repeat(53), 'GSM'],
  ])('%s', (_name, text, names, sent, expected) => {
    const writing = chooseEncoding(text, allowing(names, true), 'udh')
    expect([writing.text, tables(writing.language)]).toEqual([sent, expected])
    expect(writing.segments).toBe(1)
  })

  test('does nothing where the plan does not ask for it', () => {
    expect(chooseEncoding('“Don’t”', PLAIN_TEXT, 'udh').text).toBe('“Don’t”')
  })
})
