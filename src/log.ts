import { type Logger, pino } from 'pino'

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

/** JSON lines on standard error, so that a command's own output stays clean. */
export function createLog(level: string): Logger {
  return pino({ level, base: null, serializers: { err: describeError } }, gathered(process.stderr))
}

/** Writes the lines of one turn of the event loop at once: a busy node answers many requests in one. */
function gathered(stream: NodeJS.WritableStream): { write(line: string): void } {
  let lines = ''
  const flush = () => {
    const text = lines
    lines = ''
    if (text !== '') stream.write(text)
  }
  process.on('exit', flush)
  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
  }
}
