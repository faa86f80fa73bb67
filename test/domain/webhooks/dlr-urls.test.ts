import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FAILURES } from '../../../src/domain/error-codes.ts'
import type { Message } from '../../../src/domain/messages/messages.ts'
import {
  dlrUrl,
  isDlrUrl,
  isMasked,
  longestDlrUrl,
  storedDlrUrl,
} from '../../../src/domain/webhooks/dlr-urls.ts'

describe('the DLR URL of a message', () => {
  const FROM = { to: '0015551230001', from: 'A & B', username: 'a@b' }
  const MSG_ID = '01a20998-6ad3-71d6-bb19-3dbaaabeb21b'

  function messageAt(status: Message['status'], errorCode = '000', wasSent = true): Message {
    const updatedAt = new Date('2026-11-23T17:53:12.700Z')
    return { msgId: MSG_ID, status, errorCode, updatedAt, sentAt: wasSent ? updatedAt : null } as Message
  }

  test.each([
    ['SENT', '000', true, 8, 'ACK/'],
    ['DELIVERED', '000', true, 1, 'stat:DELIVRD err:000 '],
    ['FAILED', '500', true, 2, 'stat:EXPIRED err:500 '],
    ['FAILED', '303', true, 2, 'stat:UNDELIV err:303 '],
    ['UNKNOWN', '601', true, 2, 'stat:UNKNOWN err:601 '],
    ['FAILED', '301', false, 16, 'NACK/301/Invalid recipient number'],
  ] as const)('%s %s (sent: %s) is of type %i', (status, errorCode, wasSent, type, text) => {
    const message = messageAt(status, errorCode, wasSent)
    const change = { status, sentAtMs: wasSent ? 1 : null }
    for (const mask of [1, 2, 8, 16, 31]) {
      const stored = storedDlrUrl('https://x.example/?%d&%A', mask, FROM)
      expect(isMasked(stored, change)).toBe((mask & type) === 0)
      const url = dlrUrl(stored, message)
      expect(url === null).toBe((mask & type) === 0)
      if (url === null) continue
      const [got, report] = url.slice('https://x.example/?'.length).split('&')
      expect([got, decodeURIComponent(report!.replaceAll('+', ' '))]).toEqual([
        String(type),
        expect.stringContaining(text),
      ])
    }
  })

  test('an escape in what the request wrote is none in the URL', () => {
    const stored = storedDlrUrl('https://x.example?%p,%P,%q,%n,%%d,%25', 31, { ...FROM, from: '%d %A' })
    expect(dlrUrl(stored, messageAt('SENT'))).toBe(
      'https://x.example/?0015551230001,%25d+%25A,%2B15551230001,a%40b,%d,%25',
    )
  })

  test('no callback URL is taken for one', () => {
    expect(isDlrUrl('https://x.example/?%20dlr-mask=1')).toBe(false)
    expect(isMasked('https://x.example/', { status: 'SENT', sentAtMs: 1 })).toBe(false)
  })

  test('none is longer than the longest', () => {
    const piece = fc.constantFrom(...[...'dpPqQtTAabkeIFnzCO%'].map((letter) => `%${letter}`), 'x')
    const codes = fc.constantFrom(...Object.keys(FAILURES))
    fc.assert(
      fc.property(fc.array(piece), codes, fc.boolean(), (pieces, code, wasSent) => {
        const stored = storedDlrUrl(`https://x.example/${pieces.join('')}`, 31, FROM)
        const url = dlrUrl(stored, messageAt('FAILED', code, wasSent))!
        expect(url.length).toBeLessThanOrEqual(longestDlrUrl(stored).length)
      }),
    )
  })
})
