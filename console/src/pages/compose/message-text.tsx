import { Button, Group, Input, Text } from '@mantine/core'
import { type ChangeEvent, useId, useRef } from 'react'
import type { PreflightText } from '../../../../client/src/api.ts'
import { counted } from '../../kit/formats.ts'
import { Segments } from './segments.tsx'
import { piecesOf, unitsBefore } from './text-pieces.ts'

interface MessageTextProps {
  readonly name: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly onBlur: () => void
  readonly error: string | null
  /** Of this text, or of an earlier one while it is being checked. */
  readonly told: PreflightText | null
}

/** The text of a message. A layer behind it marks the characters that force UCS-2, and where segments begin. */
export function MessageText({ name, value, onChange, onBlur, error, told }: MessageTextProps) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const find = (position: number, characters: string) => {
    const at = unitsBefore(value, position)
    area.current?.focus()
    area.current?.setSelectionRange(at, at + characters.length)
  }
  return (
    <div>
      <Input.Wrapper id={id} label="Text" error={error} errorProps={{ id: `${id}-error` }}>
        <div className="compose-text" data-invalid={error !== null || undefined}>
          <Layer text={value} told={told} />
          <textarea
            id={id}
            name={name}
            ref={area}
            value={value}
            onChange={(event: ChangeEvent<HTMLTextAreaElement>) => onChange(event.currentTarget.value)}
            onBlur={onBlur}
            aria-invalid={error !== null}
            aria-describedby={`${id}-counter${error === null ? '' : ` ${id}-error`}`}
          />
        </div>
      </Input.Wrapper>
      <Text size="sm" c="dimmed" mt={6} id={`${id}-counter`}>
        {counter(value, told)}
      </Text>
      {told !== null && value !== '' && (
        <>
          <ForeignCharacters text={value} told={told} onFind={find} onChange={onChange} />
          <Segments text={value} told={told} />
        </>
      )}
    </div>
  )
}

function Layer({ text, told }: { text: string; told: PreflightText | null }) {
  const marked = new Set(told?.ucs2Characters.map(({ character }) => character))
  let at = 0
  const pieces = piecesOf(text, marked, told?.segmentTexts ?? []).map((piece) => {
    const start = at
    at += piece.text.length
    return { ...piece, start }
  })
  return (
    <div className="compose-layer" aria-hidden>
      {pieces.map(({ start, text, isMarked, startsSegment }) => (
        <span key={start} data-marked={isMarked || undefined} data-starts={startsSegment || undefined}>
          {text}
        </span>
      ))}
      {/* An empty last line has a height only with something in it. */}
      {'\u200b'}
    </div>
  )
}

const ENCODINGS = { GSM7: 'GSM 7-bit', UCS2: 'UCS-2' } as const

/** "43 characters · 1 segment · UCS-2" */
function counter(value: string, told: PreflightText | null): string {
  const characters = [...value].length
  const size = counted(characters, 'character')
  if (told === null || value === '') return size
  const { segments, encoding } = told
  return `${size} · ${counted(segments, 'segment')} · ${ENCODINGS[encoding]}`
}

interface ForeignCharactersProps {
  readonly text: string
  readonly told: PreflightText
  readonly onFind: (position: number, characters: string) => void
  readonly onChange: (text: string) => void
}

/** What keeps the text out of the GSM alphabet: found by a click, and replaced where smart encoding knows by what. */
function ForeignCharacters({ text, told, onFind, onChange }: ForeignCharactersProps) {
  const { ucs2Characters, smartReplacements } = told
  const found = ucs2Characters.filter(({ character }) => text.includes(character))
  const replaceable = smartReplacements.filter(({ characters }) => text.includes(characters))
  if (found.length === 0 && replaceable.length === 0) return null
  return (
    <div className="compose-characters">
      {found.length > 0 && (
        <Text size="sm">
          The GSM 7-bit alphabet lacks {found.length === 1 ? 'this character' : 'these characters'}. The whole
          text is sent in UCS-2, which takes about twice the room.
        </Text>
      )}
      <Group gap={6} mt={6}>
        {found.map(({ character, codePoint, position }) => (
          <Button
            key={codePoint}
            size="compact-sm"
            variant="default"
            fw={400}
            aria-label={`Find ${codePoint} in the text`}
            onClick={() => onFind(position, character)}
          >
            <span className="compose-character">{character}</span>
            <span className="aldis-mono">{codePoint}</span>
          </Button>
        ))}
      </Group>
      {replaceable.length > 0 && <Replacements replacements={replaceable} text={text} onChange={onChange} />}
    </div>
  )
}

interface ReplacementsProps {
  readonly replacements: PreflightText['smartReplacements']
  readonly text: string
  readonly onChange: (text: string) => void
}

function Replacements({ replacements, text, onChange }: ReplacementsProps) {
  return (
    <Group gap={6} mt={6}>
      {replacements.map(({ characters, replacement }) => (
        <Button
          key={characters}
          size="compact-sm"
          variant="light"
          fw={400}
          onClick={() => onChange(text.replaceAll(characters, replacement))}
        >
          {replacement === '' ? `Leave out “${characters}”` : `Replace “${characters}” with “${replacement}”`}
        </Button>
      ))}
    </Group>
  )
}
