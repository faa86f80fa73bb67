import { expect, test } from 'vitest'
import { attemptSend, judgeAnswer } from '../../../src/commands/sending/send-attempts.ts'
import { freePort } from '../../support/process.ts'

const RECORD = { msgId: '0190a7b0-0000-7000-8000-000000000001', status: 'QUEUED', errorCode: '000' }

test.each([
  [202, RECORD, {}, { kind: 'accepted', isRepeat: false }],
  [202, RECORD, { 'idempotent-replayed': 'true' }, { kind: 'accepted', isRepeat: true }],
  [403, { errorCode: 'FORBIDDEN', errorMessage: 'No' }, {}, { kind: 'refused', errorMessage: 'No' }],
  // Of a gateway, which has not passed it on.
  [403, undefined, {}, { kind: 'refused', errorCode: 'HTTP_403' }],
  [429, { errorCode: 'RATE_LIMITED' }, { 'retry-after': '2' }, { waitMs: 2_000, mayBeAccepted: false }],
  // A cap: until the month ends.
  [429, { errorCode: 'CAP_REACHED' }, { 'retry-after': '2600000' }, { waitMs: 2_600_000_000 }],
  [
    503,
    { errorCode: 'SERVICE_UNAVAILABLE' },
    { 'retry-after': '1' },
    { waitMs: 1_000, mayBeAccepted: false },
  ],
  // A stored message that could not be queued: its key is free.
  [500, { ...RECORD, status: 'FAILED', errorCode: '100' }, {}, { kind: 'later', mayBeAccepted: false }],
  // A gateway that waited in vain, or something that is no Aldis.
  [504, undefined, {}, { kind: 'later', waitMs: null, mayBeAccepted: true }],
  [202, undefined, {}, { kind: 'later', mayBeAccepted: true }],
  [200, { ok: true }, { 'retry-after': 'soon' }, { kind: 'later', waitMs: null, mayBeAccepted: true }],
])('%i %j %j', (status, body, headers, expected) => {
  expect(judgeAnswer(status, new Headers(headers as Record<string, string>), body)).toMatchObject(expected)
})

test('without a connection, nothing was accepted', async () => {
  const access = { url: `http://127.0.0.1:${await freePort()}`, token: 'aldis_x' }
  const sms = {
    servicePlanId: '64f0',
    channel: 'SMS',
    from: 'Aldis',
    to: '+15551230001',
    body: 'Hi',
  } as const
  expect(await attemptSend(access, sms, 'key')).toMatchObject({ kind: 'later', mayBeAccepted: false })
})
