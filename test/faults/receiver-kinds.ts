/** Webhook receivers that are gone, hang, or lose their answers. */

import type { Kind } from './kind.ts'
import type { Excuses } from './ledgers.ts'
import type { Health } from './receiver.ts'

function receiverIs(health: Health, name: string, summary: string, excuses: Excuses = {}): Kind {
  return {
    name,
    summary,
    excuses,
    holdMs: [2_000, 8_000],
    async begin({ bed, random }) {
      const receiver = random.pick(bed.receivers)
      receiver.become(health)
      return { end: async () => receiver.become('healthy') }
    },
  }
}

export const RECEIVER_KINDS: readonly Kind[] = [
  receiverIs('down', 'receiver-down', 'connections are reset'),
  receiverIs('hanging', 'receiver-hanging', 'requests are taken and not answered'),
  receiverIs('flapping', 'receiver-flapping', 'every other request is answered 503'),
  receiverIs('failing', 'receiver-failing', 'every request is answered 500'),
  receiverIs('slow', 'receiver-slow', 'answers take 3 s'),
  receiverIs('cutting', 'receiver-cutting', 'requests are taken, and reset before the answer', {
    repeats: true,
  }),
]
