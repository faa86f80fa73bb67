import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type MessageInProgress,
  MessagesByPlan,
  messageInProgress,
} from '../../../src/domain/journal/messages-in-progress.ts'
import { acceptedFact } from '../../support/messages-in-memory.ts'

const IDS = Array.from({ length: 12 }, (_, n) => `01900000-0000-7000-8000-0000000000${10 + n}`)
const PLANS = [1, 2, 3]
const messageOfPlan = (msgId: string, planId: number) => messageInProgress(msgId, acceptedFact(planId, msgId))

test('they are found by id and by plan, whatever was added and deleted', () => {
  const step = fc.record({
    id: fc.nat(IDS.length - 1),
    what: fc.constantFrom('add', 'add', 'delete', 'clear'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const messages = new MessagesByPlan((message) => message)
      const known = new Map<string, MessageInProgress>()
      for (const { id, what } of steps) {
        const message = messageOfPlan(IDS[id]!, PLANS[id % 3]!)
        if (what === 'clear') {
          messages.clear()
          known.clear()
        } else if (what === 'delete') {
          messages.delete(message.msgId)
          known.delete(message.msgId)
        } else if (!known.has(message.msgId)) {
          messages.add(message)
          known.set(message.msgId, message)
        }
      }
      expect([...messages.of(null)]).toEqual([...known.values()])
      expect(messages.size).toBe(known.size)
      for (const msgId of IDS) expect(messages.get(msgId)).toBe(known.get(msgId))
      for (const planId of PLANS) {
        const expected = [...known.values()].filter(({ accepted }) => accepted.planId === planId)
        expect([...messages.of(planId)]).toEqual(expected)
      }
    }),
  )
})
