import type { Command } from 'commander'
import { addSettings, fieldsOf, listed, type Setting } from './settings.ts'

export interface OptOutOptions {
  readonly optOut?: boolean
}

const SETTINGS: readonly Setting[] = [
  [
    'stopWords',
    '--stop-words <list>',
    'words that replace STOP,UNSUBSCRIBE,CANCEL …, separated by commas',
    listed,
  ],
  ['startWords', '--start-words <list>', 'words that replace START,UNSTOP,YES', listed],
  ['helpWords', '--help-words <list>', 'words that replace HELP,INFO', listed],
  ['stopReply', '--stop-reply <text>', 'reply that confirms an opt-out'],
  ['startReply', '--start-reply <text>', 'reply that confirms the end of an opt-out'],
  ['helpReply', '--help-reply <text>', 'reply to HELP'],
]
const REMOVALS: readonly Setting[] = [
  ['stopReply', '--no-stop-reply', 'do not confirm opt-outs'],
  ['startReply', '--no-start-reply', 'do not confirm the end of opt-outs'],
  ['helpReply', '--no-help-reply', 'do not answer HELP'],
]

/** Adds `--opt-out`, words and replies; for changes also what takes them away again. */
export function addOptOutOptions(command: Command, removable: boolean): Command {
  command.option('--opt-out', 'act on STOP, START and HELP; implied by options for words and replies')
  addSettings(command, SETTINGS)
  if (!removable) return command
  command.option('--no-opt-out', 'treat STOP, START and HELP as messages like any other')
  return addSettings(command, REMOVALS)
}

/** The API's `optOut`; undefined when none was given. */
export function optOut(options: OptOutOptions): unknown {
  if (options.optOut === false) return null
  const settings = fieldsOf([...SETTINGS, ...REMOVALS], options)
  return options.optOut || Object.keys(settings).length > 0 ? settings : undefined
}
