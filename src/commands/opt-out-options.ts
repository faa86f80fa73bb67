import type { Command } from 'commander'
import { given, orNull } from './admin-client.ts'

export interface OptOutOptions {
  readonly optOut?: boolean
  readonly stopWords?: string
  readonly startWords?: string
  readonly helpWords?: string
  readonly stopReply?: string | false
  readonly startReply?: string | false
  readonly helpReply?: string | false
}

/** Adds `--opt-out`, words and replies; for changes also what takes them away again. */
export function addOptOutOptions(command: Command, removable: boolean): Command {
  command
    .option('--opt-out', 'act on STOP, START and HELP; implied by the words and replies')
    .option('--stop-words <list>', 'words in place of STOP,UNSUBSCRIBE,CANCEL …, separated by commas')
    .option('--start-words <list>', 'words in place of START,UNSTOP,YES')
    .option('--help-words <list>', 'words in place of HELP,INFO')
    .option('--stop-reply <text>', 'confirms an opt-out')
    .option('--start-reply <text>', 'confirms the end of one')
    .option('--help-reply <text>', 'answers HELP')
  if (!removable) return command
  return command
    .option('--no-opt-out', 'treat STOP, START and HELP as messages like any other')
    .option('--no-stop-reply', 'do not confirm opt-outs')
    .option('--no-start-reply', 'do not confirm their end')
    .option('--no-help-reply', 'do not answer HELP')
}

/** The API's `optOut`; undefined when none was given. */
export function optOut(options: OptOutOptions): unknown {
  if (options.optOut === false) return null
  const settings = given({
    stopWords: words(options.stopWords),
    startWords: words(options.startWords),
    helpWords: words(options.helpWords),
    stopReply: orNull(options.stopReply),
    startReply: orNull(options.startReply),
    helpReply: orNull(options.helpReply),
  })
  return options.optOut || Object.keys(settings).length > 0 ? settings : undefined
}

function words(list: string | undefined): string[] | undefined {
  return list?.split(',').map((word) => word.trim())
}
