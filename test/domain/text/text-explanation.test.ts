import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { PLAIN_TEXT, SMART_CHARACTERS, smartText } from '../../../src/domain/text/encoding-choice.ts'
import { encodeGsm } from '../../../src/domain/text/gsm0338.ts'
import { countSegments, explainText } from '../../../src/domain/text/segments.ts'

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
          expect(codePoint).toBe(`U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`)
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
