import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawOf, eventId, messageId, sampleOf } from '../../src/domain/identifiers.ts'
import {
  isTraced,
  parseTraceparent,
  rootSpan,
  webhookSpan,
  webhookTraceparent,
} from '../../src/domain/trace-context.ts'

const ID = '0198c1f0-7a2b-7c3d-9e4f-0123456789ab'
const TRACE = '0198c1f07a2b7c3d9e4f0123456789ab'

const newId = () => messageId(1_795_000_000_000, randomBytes(9), 7)

describe('the trace of a message', () => {
  it('follows from its id', () => {
    expect(rootSpan(ID)).toEqual({ traceId: TRACE, spanId: '9e4f0123456789ab' })
    const webhook = { eventId: eventId({ msgId: ID, sequence: 2 }), attempt: 3 }
    expect(webhookSpan(webhook)).toEqual({ traceId: TRACE, spanId: '4e4f012300020003' })
  })

  it('has a span of its own for each attempt, and none is the root', () => {
    const attempts = fc.tuple(fc.integer({ min: 0, max: 32_767 }), fc.integer({ min: 1, max: 32_767 }))
    fc.assert(
      fc.property(attempts, attempts, (one, other) => {
        const msgId = newId()
        const [first, second] = [one, other].map(
          ([sequence, attempt]) => webhookSpan({ eventId: eventId({ msgId, sequence }), attempt }).spanId,
        )
        expect(first).toMatch(/^[0-9a-f]{16}$/)
        expect(first === second).toBe(String(one) === String(other))
        expect(first).not.toBe(rootSpan(msgId).spanId)
      }),
    )
  })
})

describe('the share of messages that are traced', () => {
  const ids = Array.from({ length: 50_000 }, newId)

  it.each([0, 0.01, 0.5, 1])('%d', (share) => {
    const traced = ids.filter((id) => isTraced(id, share)).length
    // Nine standard deviations.
    expect(Math.abs(traced - share * ids.length)).toBeLessThanOrEqual(9 * Math.sqrt(share * ids.length))
    if (share === 1) expect(traced).toBe(ids.length)
  })

  it('is drawn by other digits than the carrier', () => {
    const carriers = ids.filter((id) => isTraced(id, 0.1)).map((id) => drawOf(id, 0))
    expect(carriers.filter((draw) => draw < 0.5).length / carriers.length).toBeCloseTo(0.5, 1)
    expect(sampleOf('00000000-0000-7fff-80ff-000000000000')).toBe(1 - 2 ** -20)
    expect(sampleOf('ffffffff-ffff-7000-bf00-ffffffffffff')).toBe(0)
  })
})

describe('traceparent', () => {
  const webhook = { eventId: eventId({ msgId: ID, sequence: 1 }), attempt: 1, isTest: false }

  it('goes to the receivers of traced messages', () => {
    expect(webhookTraceparent(webhook, 1)).toBe(`00-${TRACE}-4e4f012300010001-01`)
    expect(webhookTraceparent(webhook, 0)).toBeNull()
    expect(webhookTraceparent({ ...webhook, isTest: true }, 1)).toBeNull()
  })

  it('of a request is read by the rules', () => {
    const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
    const header = `00-${span.traceId}-${span.spanId}-00`
    expect(parseTraceparent(header)).toEqual(span)
    expect(parseTraceparent(`${header.replace('00', 'fe')}-more`)).toEqual(span)
    const wrong = [
      '',
      '00-zz',
      header.replace('00', 'ff'),
      header.toUpperCase(),
      header.replace(span.spanId, '0'.repeat(16)),
      header.replace(span.traceId, '0'.repeat(32)),
      `${header}0`,
    ]
    expect(wrong.map(parseTraceparent)).toEqual(wrong.map(() => null))
  })
})
