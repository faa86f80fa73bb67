import type { TextSettings } from './encoding-choice.ts'
import { encodeGsm } from './gsm0338.ts'
import { divideText, type Encoding } from './segments.ts'
import { type SmartReplacement, smartReplacements } from './smart-encoding.ts'

/** A character that the GSM 7-bit default alphabet lacks. */
interface ForeignCharacter {
  readonly character: string
  /** `U+2019` */
  readonly codePoint: string
  /** Of the first, in code points from 0. */
  readonly position: number
}

/** How a text would be sent, and why. */
export interface TextExplanation {
  readonly encoding: Encoding
  /** The text that each carries. */
  readonly segments: readonly string[]
  /** What keeps the text out of the GSM 7-bit alphabet, each once; empty unless it is sent as UCS-2. */
  readonly ucs2Characters: readonly ForeignCharacter[]
  /** Empty unless the plan has smart encoding. They are made only if that saves the text from UCS-2. */
  readonly smartReplacements: readonly SmartReplacement[]
}

/** Answers with the encoder of the message path itself. */
export function explainText(text: string, settings: TextSettings): TextExplanation {
  const { encoding, segments } = divideText(text, settings)
  return {
    encoding,
    segments,
    ucs2Characters: encoding === 'UCS2' ? foreignCharacters(text) : [],
    smartReplacements: settings.smartEncoding ? smartReplacements(text) : [],
  }
}

function foreignCharacters(text: string): ForeignCharacter[] {
  const found = new Map<string, ForeignCharacter>()
  for (const [position, character] of [...text].entries()) {
    if (found.has(character) || encodeGsm(character) !== null) continue
    const hex = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    found.set(character, { character, codePoint: `U+${hex}`, position })
  }
  return [...found.values()]
}
