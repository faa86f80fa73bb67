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
  return pino({ level, base: null, serializers: { err: describeError } }, process.stderr)
}
