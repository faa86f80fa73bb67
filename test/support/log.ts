/** What services log, as tests look at it. */
import type { Log } from '../../src/log.ts'

interface Line {
  readonly level: keyof Log
  readonly message: string
  readonly err?: unknown
}

/** Keeps what is logged, with its details. */
export class KeptLog implements Log {
  readonly lines: Line[] = []

  /** Texts of the errors. */
  get errors(): string[] {
    return this.#at('error').map(({ message }) => message)
  }

  /** What these tell of. */
  get causes(): unknown[] {
    return this.#at('error').map(({ err }) => err)
  }

  error(details: object, message: string): void {
    this.lines.push({ level: 'error', message, ...details })
  }

  warn(details: object, message: string): void {
    this.lines.push({ level: 'warn', message, ...details })
  }

  info(details: object, message: string): void {
    this.lines.push({ level: 'info', message, ...details })
  }

  #at(level: keyof Log): Line[] {
    return this.lines.filter((line) => line.level === level)
  }
}

const nothing = () => undefined

export const quietLog: Log = { error: nothing, warn: nothing, info: nothing }

/** An error is thrown where it is logged. */
export const strictLog: Log = {
  ...quietLog,
  error(details, message) {
    throw new Error(message, { cause: (details as { err?: unknown }).err })
  },
}
