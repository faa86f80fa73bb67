import { describe, expect, test } from 'vitest'
import { failureOf } from '../../../src/services/links/close-reasons.ts'
import { STATUSES } from '../../../src/smpp/statuses.ts'

describe('what the pause before another bind depends on', () => {
  type Reason = Parameters<typeof failureOf>[0]
  const of = (reason: Reason, isDoubtful = false, isEarly = true) =>
    failureOf(reason, { isDoubtful, isEarly })
  const refused = (status: number) => ({ code: 'bind_rejected', status }) as const

  test.each(['connect_failed', 'connect_timeout', 'bind_timeout', 'enquire_link_timeout'] as const)(
    '%s: the carrier is not reached',
    (code) => expect(of({ code })).toBe('unreached'),
  )

  test.each(['peer_closed', 'socket_error', 'peer_unbound', 'frame_error'] as const)(
    '%s: closed, unless the session has stood for a while',
    (code) => expect([of({ code }), of({ code }, false, false)]).toEqual(['closed', 'unreached']),
  )

  test('a refused bind, and a carrier that calls its sessions out of order', () => {
    for (const reason of [refused(STATUSES.ESME_RALYBND), { code: 'unbound' }] as const)
      expect(of(reason, false, false)).toBe('refused')
  })

  test('a link in doubt after unanswered submits, however its sessions end, unless the carrier cannot be reached', () => {
    expect([of({ code: 'peer_closed' }, true), of({ code: 'submits_unanswered' }, true, false)]).toEqual([
      'refused',
      'refused',
    ])
    expect(of({ code: 'connect_failed' }, true)).toBe('unreached')
  })

  test.each(['ESME_RINVPASWD', 'ESME_RINVSYSID', 'ESME_RINVSYSTYP'] as const)(
    '%s: the credentials',
    (status) => expect(of(refused(STATUSES[status]))).toBe('unauthorized'),
  )
})
