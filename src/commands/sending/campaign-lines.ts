import { hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Options, parse } from 'csv-parse'
import { readE164 } from '../../domain/messages/addresses.ts'
import { MAX_BODY_CHARACTERS } from '../../domain/messages/messages.ts'
import { fieldFaults, type SendRequest } from '../../domain/messages/send-requests.ts'
import { CSV_FORM } from '../admin/csv.ts'

/** The messages of a CSV file, one for each of its lines. */

export interface Campaign {
  /** Of the file, in messages to people. */
  readonly file: string
  /** Part of the idempotency keys, so that the same line may be sent again under another name. */
  readonly name: string
  readonly servicePlanId: string
  readonly from: string
  /** Undefined: the column `text` has it. */
  readonly text: string | undefined
  readonly callbackUrl: string | undefined
}

/** `line` counts from 1, the header. */
export interface CampaignLine {
  readonly line: number
  readonly sms: SendRequest
  /** Made of the campaign's name, the line's number and the message, so it is the same whenever the file is read. */
  readonly key: string
  /** What makes it impossible to send. */
  readonly faults: readonly string[]
}

const REQUIRED = 'to'
const TEXT = 'text'
const KEY_LENGTH = 24
/** What a decoder puts where the octets are not UTF-8. */
const REPLACEMENT = '\ufffd'

/** Reads the file from its beginning, a line at a time. @throws Error when it is no CSV file, or its header is wrong */
export async function* campaignLines(file: FileHandle, campaign: Campaign): AsyncGenerator<CampaignLine> {
  let last = 0
  let toLine: ((record: readonly string[], line: number) => CampaignLine) | undefined
  try {
    for await (const { record, info } of streamCsv<CsvRecord>(file, { ...CSV_FORM, info: true })) {
      last = info.lines
      if (toLine === undefined) toLine = lineMaker(record, campaign)
      else yield toLine(record, last)
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (!code.startsWith('CSV_')) throw error
    throw new Error(`${campaign.file}: invalid CSV after line ${last}: ${message}`, { cause: error })
  }
  if (toLine === undefined) throw new Error(`${campaign.file} is empty: its first line names the columns`)
}

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

function lineMaker(columns: readonly string[], campaign: Campaign) {
  const { name, servicePlanId, from, callbackUrl } = campaign
  checkColumns(columns, campaign)
  // A text of the file is sent as it is.
  const fill =
    campaign.text === undefined
      ? (values: Values) => (values[TEXT] === '' ? { empty: TEXT } : { text: values[TEXT]! })
      : compileText(campaign.text, columns)
  return (record: readonly string[], line: number): CampaignLine => {
    const values = Object.fromEntries(columns.map((column, at) => [column, record[at] ?? '']))
    const filled = fill(values)
    const to = readE164(values[REQUIRED]!) ?? values[REQUIRED]!
    const body = 'text' in filled ? filled.text : ''
    const message = { servicePlanId, channel: 'SMS' as const, from, to, body }
    const sms = callbackUrl === undefined ? message : { ...message, callbackUrl }
    const key = hash('sha256', JSON.stringify([name, line, sms]), 'base64url').slice(0, KEY_LENGTH)
    const faults =
      record.length === columns.length
        ? [...('empty' in filled ? [`${filled.empty} is empty`] : []), ...smsFaults(sms)]
        : [`has ${record.length} fields, but the header has ${columns.length}`]
    return { line, sms, key, faults }
  }
}

type Values = Readonly<Record<string, string>>

function checkColumns(columns: readonly string[], { file, text }: Campaign): void {
  const needed = text === undefined ? [REQUIRED, TEXT] : [REQUIRED]
  const missing = needed.find((name) => !columns.includes(name))
  const found = `${file} has the columns ${columns.join(', ')}`
  if (missing === TEXT) throw new Error(`${found}: give the text with --text, or in a column text`)
  if (missing !== undefined) throw new Error(`${found}: one has to be called ${missing}`)
  const twice = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`${file} has the column ${twice} twice`)
}

function smsFaults({ to, body }: SendRequest): string[] {
  const faults = fieldFaults({ to, body }).map(({ field, message }) => `${field} ${message}`)
  const characters = [...body].length
  if (characters > MAX_BODY_CHARACTERS)
    faults.push(`the text has ${characters} characters; at most ${MAX_BODY_CHARACTERS} can be sent`)
  if (body.includes(REPLACEMENT)) faults.push('the text is not in UTF-8: save the file as UTF-8')
  return faults
}

// A text with placeholders, `Hello {name}`: `{{` and `}}` are braces.

const PARTS = /\{\{|\}\}|\{([^{}]*)\}/g

/** Fills in the placeholders; null where a value is empty, with the name of its column. */
type Fill = (values: Readonly<Record<string, string>>) => { text: string } | { empty: string }

/** @throws Error for a placeholder that is none of the columns, and for a single brace, which may be part of one */
function compileText(text: string, columns: readonly string[]): Fill {
  const single = /[{}]/.exec(text.replace(PARTS, ''))?.[0]
  if (single !== undefined)
    throw new Error(`--text has a single ${single}. For a brace, write ${single}${single}`)
  const names = [...text.matchAll(PARTS)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  const unknown = names.find((name) => !columns.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `--text has {${unknown}}, but the file has no such column, only ${columns.join(', ')}. For a brace, write {{`,
    )
  return (values) => {
    const empty = names.find((name) => values[name] === '')
    if (empty !== undefined) return { empty }
    const filled = text.replace(PARTS, (part, name?: string) =>
      name === undefined ? part[0]! : values[name]!,
    )
    return { text: filled }
  }
}

const CHUNK_BYTES = 64 * 1024

/** The records of the first `end` octets of a CSV file, one at a time. The file stays open, and may be read again. */
export async function* streamCsv<Row>(
  file: FileHandle,
  options: Options,
  end = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row> {
  const source = Readable.from(chunks(file, end))
  const parser = source.pipe(parse(options))
  source.on('error', (error) => parser.destroy(error))
  try {
    yield* parser as AsyncIterable<Row>
  } finally {
    source.destroy()
  }
}

async function* chunks(file: FileHandle, end: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < end; ) {
    const length = Math.min(CHUNK_BYTES, end - position)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
