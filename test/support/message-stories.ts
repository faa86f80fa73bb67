/** Random stories of messages. */
import fc from 'fast-check'
import type { MessageState, StateFact } from '../../src/domain/journal/message-facts.ts'
import { CARRIER_ID } from './installation.ts'

export const MOST_SEGMENTS = 3
export const CUTS = [null, 'tlv gsm7 3']

/** A fact of a message before it is known how the message is by then. */
type Chance = (message: MessageState, atMs: number) => StateFact

const charge = fc.option(
  fc.constantFrom('0.01', '1.2', '0.000003').map((price) => ({ price, ptf: '0.1', currency: 'EUR' })),
)
const optional = <T>(...values: T[]) => fc.option(fc.constantFrom(...values))

const settled = fc
  .record({
    status: fc.constantFrom('SENT' as const, 'SENT' as const, 'FAILED' as const, 'UNKNOWN' as const),
    errorCode: fc.constantFrom('000', '103'),
    carrierCode: optional('0x45'),
    carrierId: optional(CARRIER_ID),
    routeId: optional(7),
    routeReason: optional('only carrier'),
    segments: optional(1, 2, MOST_SEGMENTS),
    segmentation: fc.constantFrom(...CUTS),
    mccmnc: optional('26201'),
    charge,
  })
  .map(
    (rest): Chance =>
      (_, atMs) => ({ kind: 'settled', atMs, ...rest }),
  )

const received = fc
  .record({
    outcome: fc.constantFrom(
      'DELIVERED' as const,
      'DELIVERED' as const,
      'FAILED' as const,
      'UNKNOWN' as const,
    ),
    segmentBits: fc.nat(MOST_SEGMENTS - 1).map((segment) => 1n << BigInt(segment)),
    ofFormerCut: fc.boolean(),
    errorCode: fc.constantFrom('300', '600'),
    carrierCode: optional('UNDELIV 12'),
    mccmnc: optional('310260'),
    segmentCharge: charge,
  })
  .map(
    ({ ofFormerCut, ...rest }): Chance =>
      ({ segmentation }, atMs) => {
        return { kind: 'receipt', atMs, ...rest, segmentation: ofFormerCut ? null : segmentation }
      },
  )

const postponed = fc
  .record({
    failedAttempts: fc.nat(9),
    carrierId: optional(CARRIER_ID),
    acceptedPduBits: fc.constantFrom(0n, 1n, 2n),
    segmentation: fc.constantFrom('udh gsm7 2', 'tlv gsm7 3'),
    startedOver: fc.boolean(),
    ambiguous: fc.boolean(),
  })
  .map(
    ({ segmentation, ...rest }): Chance =>
      (_, atMs) => {
        return {
          kind: 'postponed',
          routeId: null,
          chosenCarrierId: 0,
          atMs,
          dueAtMs: atMs,
          ...rest,
          segmentation: rest.acceptedPduBits === 0n ? null : segmentation,
        }
      },
  )

const segmentAccepted = fc
  .record({ pduBits: fc.constantFrom(1n, 2n), segmentation: fc.constantFrom('udh gsm7 2', 'tlv gsm7 3') })
  .map(
    (rest): Chance =>
      (_, atMs) => ({ kind: 'pdus-accepted', atMs, ...rest }),
  )

const chance = fc.oneof(
  { arbitrary: received, weight: 4 },
  { arbitrary: settled, weight: 2 },
  { arbitrary: postponed, weight: 1 },
  { arbitrary: segmentAccepted, weight: 1 },
  {
    arbitrary: fc.constant<Chance>((_, atMs) => ({ kind: 'started-over', atMs, segmentation: CUTS[1]! })),
    weight: 1,
  },
  { arbitrary: fc.constant<Chance>((_, atMs) => ({ kind: 'overdue', atMs, errorCode: '601' })), weight: 1 },
)

const story = fc.record({
  segments: fc.integer({ min: 1, max: MOST_SEGMENTS }),
  chances: fc.array(chance, { minLength: 6, maxLength: 6 }),
})
/** Many messages go through their stories together, so that a step is a few statements. */
export const stories = fc.record({
  each: fc.array(story, { minLength: 40, maxLength: 40 }),
  hoursBetween: fc.array(fc.constantFrom(0, 1, 71, 73), { minLength: 6, maxLength: 6 }),
})

/** The carrier's id of a segment. */
export function idOf(msgId: string, segmentation: string | null, bit: bigint): string {
  return `${msgId}/${segmentation ?? 'as accepted'}/${bit}`
}
