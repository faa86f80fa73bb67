import { type FileHandle, open } from 'node:fs/promises'
import { type CampaignLine, streamCsv } from './campaign-lines.ts'
import type { Answer } from './send-attempts.ts'

/**
 * The CSV file that a run writes: a row for each line that was answered, synced to the disk in batches. A run begins with a
 * row STARTED, and ends with a row ENDED unless it was killed or lines have no answer.
 */

const COLUMNS = ['at', 'line', 'to', 'status', 'msgId', 'errorCode', 'errorMessage', 'key'] as const
const HEADER = `${COLUMNS.join(',')}\n`
const STARTED = 'STARTED'
const ENDED = 'ENDED'
/** Rows that are not on the disk yet. Beyond, those who add wait; `MOST_UNRECORDED` has room for them. */
const MOST_PENDING = 1_000
/** Of a file; each takes four bytes of memory. */
const MOST_LINES = 50_000_000
/** Lines that a killed run may have sent without a row: pending ones, and those of its requests. They are its next ones. */
export const MOST_UNRECORDED = 2_000
const TAIL_BYTES = 64 * 1024

/** What earlier runs have done. */
export class EarlierResults {
  /** By line: the beginning of its key as an even number, one more if it was accepted; 0: it was not answered. */
  #answers = new Uint32Array(1_024)
  readonly #retriesRefused: boolean
  accepted = 0
  refused = 0
  /** The end of the first run that did not say that it ended: lines may have been sent that are not in the file. */
  brokenOffAt: Date | null = null

  constructor(retriesRefused: boolean) {
    this.#retriesRefused = retriesRefused
  }

  add(line: number, key: string, isAccepted: boolean): void {
    if (!(line >= 1 && line <= MOST_LINES)) throw new Error(`it has a row for line ${line}`)
    if (line >= this.#answers.length) {
      const longer = new Uint32Array(2 * line)
      longer.set(this.#answers)
      this.#answers = longer
    }
    const earlier = this.#answers[line]!
    if (earlier !== 0) this.#count(earlier % 2 === 1, -1)
    this.#count(isAccepted, 1)
    this.#answers[line] = numberOf(key) + (isAccepted ? 1 : 0)
  }

  /** Whether the line is to be sent. A refused line that has been changed is. */
  isOpen(line: KeyedLine): boolean {
    const answer = this.#answers[line.line] ?? 0
    return answer === 0 || (answer % 2 === 0 && (this.#retriesRefused || answer !== numberOf(line.key)))
  }

  /** Whether another message of this line was accepted. */
  isChanged({ line, key }: KeyedLine): boolean {
    const answer = this.#answers[line] ?? 0
    return answer % 2 === 1 && answer !== numberOf(key) + 1
  }

  #count(isAccepted: boolean, by: number): void {
    if (isAccepted) this.accepted += by
    else this.refused += by
  }
}

type KeyedLine = Pick<CampaignLine, 'line' | 'key'>

/** Even, and never 0. */
function numberOf(key: string): number {
  return (Buffer.from(key, 'base64url').readUInt32BE() & ~1) >>> 0 || 2
}

/** Reads what is there, also if it was cut off within a row. Null: there is no such file. @throws Error */
export async function readResults(path: string, retriesRefused: boolean): Promise<EarlierResults | null> {
  let file: FileHandle
  try {
    file = await open(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
  const results = new EarlierResults(retriesRefused)
  let isRunning = false
  let last = ''
  try {
    const end = await wholeRows(file)
    if (end === 0) return results
    for await (const { at, line, status, msgId, key } of streamCsv<Row>(file, { columns: true }, end)) {
      if (at === undefined || key === undefined) throw new Error('it has other columns than a result file')
      if (line === '') {
        // A run that continued another says that it ended only if the other's lines are answered too.
        if (status === ENDED) results.brokenOffAt = null
        else if (isRunning) results.brokenOffAt ??= new Date(last)
        isRunning = status === STARTED
      } else results.add(Number(line), key, msgId !== '')
      last = at
    }
  } catch (error) {
    throw new Error(`cannot continue with ${path}: ${(error as Error).message}`, { cause: error })
  } finally {
    await file.close()
  }
  if (isRunning) results.brokenOffAt ??= new Date(last)
  return results
}

type Row = Readonly<Record<(typeof COLUMNS)[number], string>>

/** How many octets of the file are whole rows. No row has a line feed inside. */
async function wholeRows(file: FileHandle): Promise<number> {
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
  await file.read(tail, 0, tail.length, size - tail.length)
  const lineFeed = tail.lastIndexOf('\n')
  return lineFeed === -1 ? 0 : size - tail.length + lineFeed + 1
}

export class ResultFile {
  readonly #file: FileHandle
  #pending: string[] = []
  #writing: Promise<void> | null = null
  #failure: Error | null = null

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Begins the file, or a further run in it. @throws Error in one line */
  static async open(path: string, { continues }: { continues: boolean }): Promise<ResultFile> {
    try {
      // It has telephone numbers.
      const file = await open(path, continues ? 'r+' : 'wx+', 0o600)
      const end = await wholeRows(file)
      await file.truncate(end)
      await file.close()
      const results = new ResultFile(await open(path, 'a'))
      await results.#write((end === 0 ? HEADER : '') + rowOf({ status: STARTED }))
      return results
    } catch (error) {
      throw new Error(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
    }
  }

  /** Resolves at once, unless many rows wait for the disk. @throws Error when rows cannot be written */
  async add({ line, key, sms }: CampaignLine, answer: Answer): Promise<void> {
    const outcome =
      answer.kind === 'accepted'
        ? { status: answer.record.status, msgId: answer.record.msgId }
        : { status: 'REFUSED', errorCode: answer.errorCode, errorMessage: answer.errorMessage }
    this.#pending.push(rowOf({ line: String(line), to: sms.to, key, ...outcome }))
    this.#writing ??= this.#writeAll()
    if (this.#pending.length >= MOST_PENDING) await this.#writing
    if (this.#failure !== null) throw this.#failure
  }

  /** `isRecorded`: every request that was sent has a row. */
  async close(isRecorded: boolean): Promise<void> {
    await this.#writing
    try {
      if (this.#failure !== null) throw this.#failure
      if (isRecorded) await this.#write(rowOf({ status: ENDED }))
    } finally {
      await this.#file.close()
    }
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#pending.length > 0) await this.#write(this.#pending.splice(0).join(''))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const message = `cannot write results: ${code}. Nothing is lost: repeat the command with --resume within 23 h`
      this.#failure = new Error(message, { cause: error })
    } finally {
      this.#writing = null
    }
  }

  async #write(rows: string): Promise<void> {
    await this.#file.appendFile(rows)
    await this.#file.datasync()
  }
}

function rowOf(fields: Partial<Omit<Row, 'at'>>): string {
  const row: Partial<Row> = { at: new Date().toISOString(), ...fields }
  return `${COLUMNS.map((column) => field(row[column] ?? '')).join(',')}\n`
}

function field(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ')
  return /[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line
}
