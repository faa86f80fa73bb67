import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin, segment } from './admin-client.ts'
import { type Fields, printFields, printJson, printTable } from './printing.ts'
import { addAction, addList } from './resource.ts'

const EXAMPLES = `
Examples:
  aldis message list --to +15551230000
  aldis message list --plan 65a1c0ffee0123456789abcd --status FAILED --since 2026-01-02T00:00:00Z
  aldis message list --carrier acme --carrier-message-id 1f4c
  aldis message show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
  aldis message show 0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b --json`

/** Lists of the answer that the timeline tells of. */
const TOLD = new Set(['attempts', 'submissions', 'receipts', 'webhookAttempts', 'webhookEvents', 'timeline'])

export function register(program: Command): void {
  const message = program
    .command('message')
    .description('Outbound messages, as the operator sees them')
    .addHelpText('after', EXAMPLES)

  addList(message, {
    path: '/messages',
    description: 'list messages, newest first; without --plan those of the last 24 hours',
    columns: {
      CREATED: 'createdAt',
      MESSAGE: 'msgId',
      PLAN: 'servicePlanId',
      FROM: 'from',
      TO: 'to',
      STATUS: 'status',
      ERROR: 'errorCode',
      CARRIER: 'carrier',
    },
    filters: [
      ['servicePlanId', '--plan <servicePlanId>', 'of this plan only'],
      ['from', '--from <sender>', 'from this sender only'],
      ['to', '--to <number>', 'to this number only'],
      ['status', '--status <status>', 'QUEUED, SENT, DELIVERED, FAILED or UNKNOWN'],
      ['country', '--country <code>', 'to this country only'],
      ['mccmnc', '--mccmnc <digits>', 'to this network only'],
      ['fromDate', '--since <time>', 'accepted at or after this time (RFC 3339)'],
      ['toDate', '--until <time>', 'accepted until this time; without --plan at most 24 hours after --since'],
      ['errorCode', '--error-code <digits>', 'with this error code only'],
      ['carrier', '--carrier <carrier>', 'of this carrier only'],
      ['carrierMessageId', '--carrier-message-id <id>', 'with this id from a carrier, of the last 8 days'],
    ],
  })

  addAction(message, 'show <msgId>', 'show a message and its timeline').action(
    async (msgId: string, options: ConnectionOptions) => {
      const answer = (await requestAdmin(options, 'GET', `/messages/${segment(msgId)}`)) as Fields & {
        timeline: readonly Fields[]
      }
      if (options.json) return printJson(answer)
      printFields(Object.fromEntries(Object.entries(answer).filter(([name]) => !TOLD.has(name))))
      process.stdout.write('\n')
      printTable(answer.timeline, { AT: 'at', WHAT: 'what', DETAIL: 'detail' })
    },
  )
}
