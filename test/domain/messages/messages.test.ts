import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { FAILURES, receiptErrorMessage, SUCCESSES } from '../../../src/domain/error-codes.ts'
import { messageId } from '../../../src/domain/identifiers.ts'
import {
  type Message,
  publicMessage,
  toInboundWebhook,
  UNKNOWN_REVERSIBLE_MS,
  validityMs,
} from '../../../src/domain/messages/messages.ts'
import { formatAmount } from '../../../src/domain/routing/rates.ts'
import { aPlan } from '../../support/directory.ts'

test('UNKNOWN gives way for 72 h', () => {
  expect(UNKNOWN_REVERSIBLE_MS).toBe(72 * 3_600_000)
})

test('validityMs: the usual one, or what the sender asks for, never more than the longest', () => {
  const plan = aPlan({ validitySeconds: 600, maxValiditySeconds: 900 })
  expect([validityMs(plan), validityMs(plan, 60), validityMs(plan, 1_200)]).toEqual([
    600_000, 60_000, 900_000,
  ])
  expect(validityMs(aPlan({ maxValiditySeconds: 900 }))).toBe(900_000)
})

describe('delivery receipts', () => {
  it('gives every code its text, and 000 that of the status', () => {
    for (const [code, text] of Object.entries(FAILURES))
      expect(receiptErrorMessage('FAILED', code)).toBe(text)
    expect(receiptErrorMessage('SENT', '000')).toBe(SUCCESSES.SENT)
  })

  it('has a text for the code of another release', () => {
    expect(receiptErrorMessage('FAILED', '999')).not.toBe('')
    expect(receiptErrorMessage('UNKNOWN', '000')).not.toBe('')
  })

  /** The price as it stands in the JSON of a record. */
  function priceInJson(price: string | null): string {
    const message: Message = {
      planId: 1,
      msgId: '01890000-0000-7000-8000-000000000000',
      status: 'SENT',
      sender: 'Aldis',
      recipient: '+15551230000',
      body: 'hello',
      segments: 1,
      callbackUrl: null,
      country: 'US',
      mccmnc: null,
      errorCode: '000',
      price,
      ptf: price,
      currency: null,
      sentAt: null,
      updatedAt: new Date(0),
    }
    const text = JSON.stringify(publicMessage(message, aPlan()))
    return /"price":([^,]*),"ptf":\1,/.exec(text)![1]!
  }

  test.each([
    [null, 'null'],
    ['0.000000', '0'],
    ['0.007500', '0.0075'],
    ['0.000001', '0.000001'],
    ['0.300000', '0.3'],
    ['99999999.999999', '99999999.999999'],
  ])('price %s is %s in JSON', (price, json) => {
    expect(priceInJson(price)).toBe(json)
  })

  it('shows every amount that the database holds as its exact decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), (millionths) => {
        const stored = `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`
        expect(priceInJson(stored)).toBe(formatAmount(millionths))
      }),
    )
  })
})

describe('inbound webhooks', () => {
  const plan = aPlan({ inboundUrl: 'https://example.com/mo' })

  const inbound = {
    msgId: messageId(Date.UTC(2026, 2, 10, 12, 0, 0, 7), new Uint8Array(9), 5),
    sender: '+491701234567',
    recipient: '12345',
    body: 'Stop it',
    keyword: 'STOP',
  }

  const whole = {
    accountId: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    servicePlanId: '111111111111111111111111',
    msgId: inbound.msgId,
    channel: 'SMS',
    direction: 'MO',
    from: '+491701234567',
    to: '12345',
    keyword: 'STOP',
    body: 'Stop it',
    receivedAt: '2026-03-10T12:00:00.007Z',
  }

  test('has every field that docs/webhooks.md lists', () => {
    expect(toInboundWebhook(inbound, plan)).toEqual(whole)
  })

  test('has no keyword when none matched', () => {
    const { keyword: _, ...rest } = whole
    const body = toInboundWebhook({ ...inbound, keyword: null }, plan)
    expect(body).toEqual(rest)
    expect('keyword' in body).toBe(false)
  })
})
