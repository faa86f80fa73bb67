import { expect, test } from 'vitest'
import type { DispatchState, MessageState } from '../../../src/domain/journal/message-facts.ts'
import { acceptedState } from '../../../src/domain/journal/message-states.ts'
import { segmentsInDoubt, unansweredSubmits } from '../../../src/domain/journal/messages-in-doubt.ts'
import { inMemory } from '../../support/messages-in-memory.ts'

const AT_MS = Date.UTC(2026, 0, 1)

function waiting(segments: number, dispatch: Partial<DispatchState> = {}): MessageState {
  const state = acceptedState(segments, AT_MS)
  return { ...state, dispatch: { ...state.dispatch!, ambiguous: true, ...dispatch } }
}

function ended(segments: number, changes: Partial<MessageState> = {}): MessageState {
  return {
    ...acceptedState(segments, AT_MS),
    dispatch: null,
    status: 'UNKNOWN',
    errorCode: '103',
    ...changes,
  }
}

test.each<[name: string, state: MessageState, segments: bigint]>([
  ['one segment, waiting', waiting(1), 1n],
  ['one segment, ended', ended(1), 1n],
  ['not in doubt', waiting(1, { ambiguous: false }), 0n],
  ['ended by a receipt', ended(1, { errorCode: '600' }), 0n],
  ['accepted before it ended', ended(1, { sentAtMs: AT_MS }), 0n],
  ['delivered while it waits', { ...waiting(1), status: 'DELIVERED' }, 0n],
  ['accepted since', waiting(1, { acceptedPduBits: 1n }), 0n],
  ['one of three left', waiting(3, { acceptedPduBits: 0b101n }), 0b010n],
  ['two of three left', waiting(3, { acceptedPduBits: 0b001n }), 0n],
  ['started over', waiting(2, { acceptedPduBits: 0b01n, startedOver: true }), 0n],
  ['several segments, ended: nobody knows which were accepted', ended(2), 0n],
])('%s', (_name, state, segments) => {
  expect(segmentsInDoubt(state, false)).toBe(segments)
})

test('a carrier that takes all segments in one PDU has all of them or none', () => {
  expect(segmentsInDoubt(waiting(3), true)).toBe(0b111n)
  expect(segmentsInDoubt(ended(3), true)).toBe(0b111n)
  expect(segmentsInDoubt(waiting(3, { acceptedPduBits: 1n }), true)).toBe(0n)
})

test('its submits without an answer have the addresses of their receipt; that of a dead node may have been sent since it was accepted', () => {
  const message = inMemory(1, (_, atMs) => [
    {
      ...{ kind: 'attempted', atMs, tookMs: 5, carrierId: 4, commandStatus: null, segment: null },
      ...{ outcome: 'no-answer', resubmission: false, reason: null },
    } as const,
    { kind: 'begun', atMs },
    { kind: 'orphaned', atMs: atMs + 9_000, ambiguityWaitMs: 1 },
  ])
  const addresses = { planId: 1, msgId: message.msgId, recipient: '15551230000', sender: 'Aldis' }
  const [answered, orphaned] = unansweredSubmits(message)
  expect(answered).toEqual({ ...addresses, carrierId: 4, sentAtMs: message.attempts[0]!.atMs })
  expect(orphaned).toMatchObject({ ...addresses, carrierId: null })
  expect(orphaned!.sentAtMs).toBeLessThan(message.attempts[1]!.atMs - 9_000)
})
