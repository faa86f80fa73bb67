import type { Command } from 'commander'
import { wholeNumber } from './admin-client.ts'

export interface RateOptions {
  readonly rate?: number | false
  readonly burst?: number
}

/** Adds `--rate`, `--burst` and, for changes, `--no-rate`. */
export function addRateOptions(command: Command, removable: boolean): Command {
  command
    .option('--rate <n>', 'maximum number of messages per second', wholeNumber)
    .option('--burst <n>', 'maximum number of messages at once (with --rate)', wholeNumber)
  return removable ? command.option('--no-rate', 'remove the limit') : command
}

/** The API's `rateLimit`; undefined when none was given. Throws on a burst alone. */
export function rateLimit({ rate, burst }: RateOptions): unknown {
  if (rate === false) return null
  if (rate !== undefined)
    return burst === undefined ? { messagesPerSecond: rate } : { messagesPerSecond: rate, burst }
  if (burst !== undefined) throw new Error('--burst needs --rate')
  return undefined
}
