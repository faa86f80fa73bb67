import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin, segment } from './admin-client.ts'
import { type Fields, printFields, printJson, printTable } from './printing.ts'
import { addAction } from './resource.ts'

const EXAMPLES = `
Examples:
  aldis message show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
  aldis message show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b --json`

/** Lists of the answer that the timeline tells of. */
const TOLD = new Set(['attempts', 'submissions', 'receipts', 'webhookAttempts', 'webhookEvents', 'timeline'])

export function register(program: Command): void {
  const message = program
    .command('message')
    .description('Outbound messages, as the operator sees them')
    .addHelpText('after', EXAMPLES)

  addAction(message, 'show <msgId>', 'show a message and all that happened to it').action(
    async (msgId: string, options: ConnectionOptions) => {
      const answer = (await requestAdmin(options, 'GET', `/messages/${segment(msgId)}`)) as Fields & {
        timeline: readonly Fields[]
      }
      if (options.json) return printJson(answer)
      printFields(Object.fromEntries(Object.entries(answer).filter(([name]) => !TOLD.has(name))))
      process.stdout.write('\n')
      printTable(answer.timeline, [
        ['AT', 'at'],
        ['WHAT', 'what'],
        ['DETAIL', 'detail'],
      ])
    },
  )
}
