import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

/** Any code point that is a character of its own. */
const character = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count))

/** The texts of fast-check's unit `binary`, which takes 1.3 s of CPU to make in each process. */
export function anyText(constraints: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...constraints })
}
