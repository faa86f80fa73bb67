import type { Logger } from 'pino'

export interface Stopped {
  /** Resolves at SIGTERM, SIGINT or `fail`. */
  wait(): Promise<void>
  /** Something the process cannot go on without is gone: it stops with exit code 1. */
  fail(reason: string, details?: object): void
}

/** Waits for the signal to stop. A second one of the same kind ends the process at once. */
export function untilStopped(log: Logger): Stopped {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return {
    wait: () => promise,
    fail(reason, details) {
      log.fatal(details ?? {}, reason)
      process.exitCode = 1
      resolve()
    },
  }
}

/** A start that failed, in one line a person can act on. */
export function explainStart(error: unknown, port: number): Error {
  const code = (error as NodeJS.ErrnoException)?.code
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use; choose another with --port`)
  if (code === 'EACCES')
    return new Error(`port ${port} may not be used by this user; choose another with --port`)
  return error instanceof Error ? error : new Error(String(error))
}
