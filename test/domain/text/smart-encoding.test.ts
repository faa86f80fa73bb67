import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SMART_CHARACTERS, smartText } from '../../../src/domain/text/encoding-choice.ts'
import { encodeGsm } from '../../../src/domain/text/gsm0338.ts'

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
    const sorted = (entries: readonly (readonly [number, string])[]) => entries.toSorted(([a], [b]) => a - b)
    expect(sorted(shown.map(([code, sent]) => [code, names[sent] ?? sent] as const))).toEqual(sorted(table))
  })
})
