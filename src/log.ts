import { type Logger, pino } from 'pino'

/** What services and operations write into: a part of pino's logger. An error is `err` of the details. */
export interface Log {
  error(details: object, message: string): void
  warn(details: object, message: string): void
  info(details: object, message: string): void
}

/** An error's name, text and code. Not its detail: PostgreSQL puts the values of a row there, telephone numbers too. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const code = (error as { code?: unknown }).code
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    stack: stack?.split('\n').slice(1, 4).join('\n'),
  }
}

/** JSON lines on standard error, so that a command's own output stays clean; each begins with `base`. */
export function createLog(level: string, base: object | null = null): Logger {
  return pino({ level, base, serializers: { err: describeError } }, gathered(process.stderr))
}

/** What goes into a pipe in one piece (PIPE_BUF of Linux): workers share theirs, and no line may stand in another. */
const WHOLE_BYTES = 4_096

/** What logs have not written yet, as the process ends. */
const flushes = new Set<() => void>()
process.on('exit', () => {
  for (const flush of flushes) flush()
})

/** Writes the lines of one turn of the event loop at once: a busy node answers many requests in one. */
function gathered(stream: NodeJS.WritableStream): { write(line: string): void } {
  let lines = ''
  let bytes = 0
  const flush = () => {
    const text = lines
    lines = ''
    bytes = 0
    if (text !== '') stream.write(text)
  }
  flushes.add(flush)
  return {
    write(line) {
      const length = Buffer.byteLength(line)
      if (bytes + length > WHOLE_BYTES) flush()
      if (lines === '') setImmediate(flush)
      lines += line
      bytes += length
    },
  }
}
