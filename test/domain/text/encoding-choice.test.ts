import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  chooseEncoding,
  PLAIN_TEXT,
  roomIn,
  SMART_CHARACTERS,
  smartText,
  type TextSettings,
} from '../../../src/domain/text/encoding-choice.ts'
import {
  DEFAULT_LANGUAGE,
  type Language,
  NATIONAL_LANGUAGES,
} from '../../../src/domain/text/gsm-national-tables.ts'
import { encodeGsm } from '../../../src/domain/text/gsm0338.ts'
import { countSegments, explainText } from '../../../src/domain/text/segments.ts'

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

describe('smart encoding', () => {
  describe('smartText', () => {
    test.each([
      ['curly quotes', '“Don’t” ‘you’ „say“ «so»', '"Don\'t" \'you\' "say" "so"'],
      ['dashes', '9–17 — not‐today‑or −1', '9-17 - not-today-or -1'],
      ['spaces', '1\u00a0000\u202f€\u2009now\tthen\u3000last', '1 000 € now then last'],
      ['line and paragraph separators', 'a\u2028b\u2029c', 'a\nb\nc'],
      ['ellipses and leaders', 'wait… no‥', 'wait... no..'],
      ['what has no width', '\ufeffa\u200bb\u00adc\u2060d\u200e', 'abcd'],
      ['what has no width, alone', '\u200b\u2060', '\u200b\u2060'],
      ['bullets', '• one\n‣ two', '- one\n- two'],
      ['primes', '5′ 11″ ‴', "5' 11\" '''"],
      ['ligatures', 'oﬃce ﬁt ﬂat ﬀ ﬄ ﬆ', 'office fit flat ff ffl st'],
      ['full-width forms', 'ＡＢｃ１！？～＠｀', "ABc1!?~@'"],
      ['decomposed letters', 'ne\u0301e a\u030a n\u0303', 'née å ñ'],
      ['letters that are signs', '10 \u2126, 3 \u212b', '10 Ω, 3 Å'],
      ['punctuation doubled', 'what‼ really⁇ no⁈ yes⁉', 'what!! really?? no?! yes!?'],
      ['multiplication', '2×3 ÷ 4', '2x3 / 4'],
      ['nothing else', 'ş½™²°жe\u0323😀中', 'ş½™²°жẹ😀中'],
    ])('%s', (_name, text, smart) => {
      expect(smartText(text)).toBe(smart)
    })

    test('leaves what the GSM alphabet has', () => {
      const gsm = fc.string({ unit: fc.constantFrom(...'aZ@Δ€[\f\n\rñÉß¿"\'~'), maxLength: 200 })
      fc.assert(fc.property(gsm, (text) => smartText(text) === text))
    })

    test('whatever is made of these and of GSM characters becomes GSM', () => {
      const unit = fc.constantFrom(...SMART_CHARACTERS.keys(), 'a', '€', ' ')
      fc.assert(
        fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
          fc.pre(smartText(text) !== text)
          expect(encodeGsm(smartText(text))).not.toBeNull()
        }),
      )
    })
  })

  describe('the table', () => {
    test('replaces only what the alphabet lacks, by what it has', () => {
      for (const [character, replacement] of SMART_CHARACTERS) {
        expect(encodeGsm(character), character).toBeNull()
        expect(encodeGsm(replacement), character).not.toBeNull()
      }
    })

    test('is the one that docs/text.md shows', () => {
      const page = readFileSync(join(import.meta.dirname, '../../../docs/text.md'), 'utf8')
      const rows = [...page.matchAll(/^\| `(?<sent>[^`]*)` \|[^|]*\| (?<codePoints>U\+[^|]*) \|$/gm)]
      const names: Record<string, string> = {
        nothing: '',
        'a space': ' ',
        'a line feed': '\n',
        'a vertical bar': '|',
      }
      const shown = rows.flatMap(({ groups }) =>
        groups!.codePoints!.split(', ').flatMap((range) => {
          const [first, last = first] = range
            .replaceAll('U+', '')
            .split('-')
            .map((hex) => Number.parseInt(hex, 16))
          return Array.from(
            { length: last! - first! + 1 },
            (_, index) => [first! + index, groups!.sent!] as const,
          )
        }),
      )
      const fullWidth = (code: number) => code >= 0xff01 && code <= 0xff5e && code !== 0xff40
      const table = [...SMART_CHARACTERS]
        .map(([character, sent]) => [character.charCodeAt(0), sent] as const)
        .filter(([code]) => !fullWidth(code))
      const sorted = (entries: readonly (readonly [number, string])[]) =>
        entries.toSorted(([a], [b]) => a - b)
      expect(sorted(shown.map(([code, sent]) => [code, names[sent] ?? sent] as const))).toEqual(sorted(table))
    })
  })
})

describe('the explanation of a text', () => {
  const SMART = { smartEncoding: true, nationalLanguages: [] }
  const TURKISH = { smartEncoding: false, nationalLanguages: [1] }

  const unit = fc.constantFrom(...'aZ €{ñ@\n', ...'“”–…ğşИ中\u00a0\u200b', '😀', 'e\u0301', 'a\u0323\u0301')
  const texts = fc.array(unit, { minLength: 1, maxLength: 400 }).map((units) => units.join(''))
  const settings = fc.constantFrom(PLAIN_TEXT, SMART, TURKISH, {
    smartEncoding: true,
    nationalLanguages: [2, 1],
  })

  describe('explainText', () => {
    test('has as many segments as the record counts, and they are the text that is sent', () => {
      fc.assert(
        fc.property(texts, settings, (text, some) => {
          const { encoding, segments } = explainText(text, some)
          expect({ encoding, segments: segments.length }).toEqual(countSegments(text, some))
          expect([text, smartText(text)]).toContain(segments.join(''))
        }),
      )
    })

    test('without the characters that it names, a text is GSM 7-bit', () => {
      fc.assert(
        fc.property(texts, settings, (text, some) => {
          const { encoding, ucs2Characters } = explainText(text, some)
          const named = new Set(ucs2Characters.map(({ character }) => character))
          expect(named.size).toBe(ucs2Characters.length)
          expect(named.size > 0).toBe(encoding === 'UCS2')
          if (encoding === 'UCS2')
            expect(encodeGsm([...text].filter((one) => !named.has(one)).join(''))).not.toBeNull()
          for (const { character, codePoint, position } of ucs2Characters) {
            expect([...text].indexOf(character)).toBe(position)
            expect(codePoint).toBe(
              `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
            )
          }
        }),
      )
    })

    test('the replacements that it names make the text that smart encoding sends', () => {
      const typographic = fc.constantFrom(...SMART_CHARACTERS.keys(), 'a', '€', 'e\u0301', 'ж', '😀')
      fc.assert(
        fc.property(fc.array(typographic, { minLength: 1, maxLength: 60 }), (units) => {
          const text = units.join('')
          const { smartReplacements } = explainText(text, SMART)
          const made = smartReplacements.reduce(
            (whole, { characters, replacement }) => whole.replaceAll(characters, replacement),
            text,
          )
          expect(made.normalize('NFC')).toBe(smartText(text))
          for (const { characters, position } of smartReplacements)
            expect([...text].slice(position).join('').startsWith(characters)).toBe(true)
        }),
      )
    })

    it('names a character once, where it comes first, counted in code points', () => {
      expect(explainText('😀 ж 😀ж', PLAIN_TEXT).ucs2Characters).toEqual([
        { character: '😀', codePoint: 'U+1F600', position: 0 },
        { character: 'ж', codePoint: 'U+0436', position: 2 },
      ])
    })

    it('names what smart encoding replaces, a letter with its mark as one', () => {
      expect(explainText('“Cafe\u0301”\u200b…', SMART)).toEqual({
        encoding: 'GSM7',
        segments: ['"Café"...'],
        ucs2Characters: [],
        smartReplacements: [
          { characters: '“', replacement: '"', position: 0 },
          { characters: 'e\u0301', replacement: 'é', position: 4 },
          { characters: '”', replacement: '"', position: 6 },
          { characters: '\u200b', replacement: '', position: 7 },
          { characters: '…', replacement: '...', position: 8 },
        ],
      })
      expect(explainText('\u200b', SMART).smartReplacements).toEqual([])
      expect(explainText('“', PLAIN_TEXT).smartReplacements).toEqual([])
    })

    it('splits neither a surrogate pair nor an escape sequence', () => {
      const emoji = `a${'😀'.repeat(70)}`
      expect(explainText(emoji, PLAIN_TEXT).segments.map((one) => one.length)).toEqual([67, 66, 8])
      const euros = `a${'€'.repeat(100)}`
      expect(explainText(euros, PLAIN_TEXT).segments.map((one) => one.length)).toEqual([77, 24])
    })
  })
})
