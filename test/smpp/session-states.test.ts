import { describe, expect, test } from 'vitest'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { NOT_BOUND } from '../../src/smpp/session.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { boundEsme, boundSmsc, rawFrame, SessionHarness } from './session-harness.ts'

const SUBMIT = { command: 'submit_sm', destination_addr: '447700900123' } as const
const DELIVER = { command: 'deliver_sm', source_addr: '447700900123' } as const
const BIND = { command: 'bind_transceiver', system_id: 'esme', password: 'pw' } as const

describe('binding', () => {
  test('the ESME sends its bind when the transport opens, and is bound by the answer', () => {
    const bound: string[] = []
    const esme = new SessionHarness('esme', { bind: BIND }, { onBound: (pdu) => bound.push(pdu.system_id) })
    expect(esme.sent()).toMatchObject([{ ...BIND, sequence: 1, interface_version: 0x34 }])
    expect([esme.session.state, esme.send(SUBMIT, 'a'), esme.session.windowFree]).toEqual([
      'OPEN',
      NOT_BOUND,
      0,
    ])
    esme.peer({ command: 'bind_transceiver_resp', sequence: 1, system_id: 'smsc' })
    expect([esme.session.state, bound, esme.session.windowFree]).toEqual(['BOUND_TRX', ['smsc'], 10])
  })

  test.each([
    ['bind_transceiver_resp', STATUSES.ESME_RINVPASWD],
    ['generic_nack', STATUSES.ESME_RINVCMDID],
  ] as const)('a bind answered by %s with an error ends the session with its status', (command, status) => {
    const esme = new SessionHarness('esme', { bind: BIND }).peer({ command, sequence: 1, status })
    expect(esme.closes).toEqual([[{ code: 'bind_rejected', status }, []]])
  })

  test('B390 bind_resp never arriving: closed after 10 s', () => {
    const esme = new SessionHarness('esme', { bind: BIND }).at(9_999)
    expect(esme.closed).toBeNull()
    expect(esme.at(10_000).closed).toBe('bind_timeout')
  })

  test('an SMSC closes a peer that has not bound after 10 s', () => {
    expect(new SessionHarness('smsc').at(10_000).closed).toBe('bind_timeout')
  })

  test.each([
    ['bind_transmitter', 'BOUND_TX'],
    ['bind_receiver', 'BOUND_RX'],
    ['bind_transceiver', 'BOUND_TRX'],
  ] as const)('the SMSC application accepts a %s: %s', (command, state) => {
    const smsc = new SessionHarness('smsc').peer({ ...BIND, command, sequence: 7 })
    expect(smsc.requests).toMatchObject([{ command, system_id: 'esme', password: 'pw' }])
    expect(smsc.session.state).toBe('OPEN')
    smsc.respond(smsc.requests[0]!, 0, { system_id: 'smsc' })
    expect(smsc.session.state).toBe(state)
    expect(smsc.sent()).toMatchObject([{ command: `${command}_resp`, sequence: 7, system_id: 'smsc' }])
    smsc.peer({ ...BIND, sequence: 8 })
    expect(smsc.sentHeads()).toEqual([['bind_transceiver_resp', STATUSES.ESME_RALYBND, 8]])
  })

  test('a refused bind leaves the session open for another', () => {
    const smsc = new SessionHarness('smsc').peer({ ...BIND, sequence: 1 })
    smsc.respond(smsc.requests.shift()!, STATUSES.ESME_RINVPASWD)
    expect(smsc.sentHeads()).toEqual([['bind_transceiver_resp', STATUSES.ESME_RINVPASWD, 1]])
    smsc.peer({ ...BIND, sequence: 2 })
    smsc.respond(smsc.requests.shift()!)
    expect(smsc.session.state).toBe('BOUND_TRX')
  })
})

describe('requests in the wrong state', () => {
  test.each([
    ['submit_sm to an ESME', boundEsme(), SUBMIT],
    ['bind to an ESME', boundEsme(), BIND],
    ['deliver_sm to an SMSC', boundSmsc(), DELIVER],
    ['submit_sm before the bind', new SessionHarness('smsc'), SUBMIT],
    ['unbind before the bind', new SessionHarness('smsc'), { command: 'unbind' }],
    ['submit_sm of a receiver', boundSmsc('bind_receiver'), SUBMIT],
    ['query_sm of a receiver', boundSmsc('bind_receiver'), { command: 'query_sm' }],
  ] as [string, SessionHarness, PduInput][])(
    '%s: its own response with ESME_RINVBNDSTS',
    (_case, harness, pdu) => {
      harness.peer({ ...pdu, sequence: 44 })
      expect(harness.sentHeads()).toEqual([[`${pdu.command}_resp`, STATUSES.ESME_RINVBNDSTS, 44]])
      expect([harness.closed, harness.requests]).toEqual([null, []])
      expect(harness.session.anomalies.unexpected_command).toBe(1)
    },
  )

  test.each(['deliver_sm', 'data_sm'] as const)('%s over a transmitter session is taken', (command) => {
    const bind = { command: 'bind_transmitter', system_id: 'esme' } as const
    const esme = new SessionHarness('esme', { bind })
    esme.peer({ command: 'bind_transmitter_resp', sequence: 1 }, { command, sequence: 44 })
    expect(esme.requests.map((pdu) => [pdu.command, pdu.sequence])).toEqual([[command, 44]])
    expect(esme.respond(esme.requests[0]!)).toBe(true)
    expect(esme.sentHeads().at(-1)).toEqual([`${command}_resp`, STATUSES.ESME_ROK, 44])
    const { wrong_bind, unexpected_command } = esme.session.anomalies
    expect([wrong_bind, unexpected_command]).toEqual([1, 0])
  })

  test('the application cannot send what its role or state forbids', () => {
    expect(boundEsme().send(DELIVER, 'a')).toBe(NOT_BOUND)
    expect(boundSmsc('bind_transmitter').send(DELIVER, 'a')).toBe(NOT_BOUND)
    expect(boundSmsc('bind_receiver').send(DELIVER, 'a')).toBeGreaterThan(0)
  })

  test('outbind is ignored and counted', () => {
    const esme = new SessionHarness('esme').peer({ command: 'outbind', system_id: 'smsc' })
    expect([esme.sent(), esme.closed, esme.session.anomalies.outbind]).toEqual([[], null, 1])
  })

  test('alert_notification is handed over and takes no answer', () => {
    const esme = boundEsme().peer({ command: 'alert_notification', sequence: 3 })
    expect(esme.requests.map((pdu) => pdu.command)).toEqual(['alert_notification'])
    expect([esme.respond(esme.requests[0]!), esme.sent()]).toEqual([false, []])
  })
})

describe('unbind', () => {
  test('B388 of the peer, mid-window: unbind_resp, closed, and the unanswered tokens handed back in order', () => {
    const esme = boundEsme()
    for (const token of ['a', 'b', 'c']) esme.send(SUBMIT, token)
    esme.sent()
    esme.peer({ command: 'submit_sm_resp', sequence: 3 }, { command: 'unbind', sequence: 77 }, DELIVER)
    expect(esme.sentHeads()).toEqual([['unbind_resp', 0, 77]])
    expect(esme.closes).toEqual([[{ code: 'peer_unbound' }, ['a', 'c']]])
    expect(esme.requests).toEqual([])
  })

  test('of ours waits for responses in both directions, and takes no more requests', () => {
    const esme = boundEsme().peer({ ...DELIVER, sequence: 9 })
    esme.send(SUBMIT, 'a')
    esme.sent()
    esme.session.unbind(0)
    expect([esme.session.state, esme.send(SUBMIT, 'b'), esme.session.windowFree]).toEqual([
      'UNBINDING',
      NOT_BOUND,
      0,
    ])
    esme.peer({ command: 'submit_sm_resp', sequence: 2 })
    expect([esme.responses.length, esme.sent()]).toEqual([1, []])
    esme.respond(esme.requests[0]!)
    expect(esme.sentHeads()).toEqual([
      ['deliver_sm_resp', 0, 9],
      ['unbind', 0, 3],
    ])
    esme.peer({ command: 'unbind_resp', sequence: 3 })
    expect(esme.closes).toEqual([[{ code: 'unbound' }, []]])
  })

  test('of ours is sent after 5 s whatever is in flight, and given up after 5 more', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.sent()
    esme.session.unbind(0)
    expect(esme.at(4_999).sent()).toEqual([])
    expect(esme.at(5_000).sentHeads()).toEqual([['unbind', 0, 3]])
    expect(esme.at(9_999).closed).toBeNull()
    esme.at(10_000)
    expect(esme.closes).toEqual([[{ code: 'unbind_timeout' }, ['a']]])
  })

  test('while it waits for what is in flight, what the peer delivers is handed over; behind the unbind no answer may be read', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.session.unbind(0)
    esme.peer({ ...DELIVER, sequence: 9 })
    expect(esme.respond(esme.requests[0]!)).toBe(true)
    esme.peer({ command: 'submit_sm_resp', sequence: 2 }, { ...DELIVER, sequence: 10 })
    expect(esme.sentHeads().slice(1)).toEqual([
      ['deliver_sm_resp', 0, 9],
      ['unbind', 0, 3],
    ])
    expect(esme.session.isUnbindSent).toBe(true)
    expect(esme.respond(esme.requests[1]!)).toBe(false)
  })

  test('an answer that the unbind did not wait for is written, and may not be read', () => {
    const esme = boundEsme().peer({ ...DELIVER, sequence: 9 })
    esme.session.unbind(0)
    esme.at(5_000).sent()
    expect(esme.respond(esme.requests[0]!)).toBe(false)
    expect(esme.sentHeads()).toEqual([['deliver_sm_resp', 0, 9]])
  })

  test('before the bind it just closes', () => {
    const esme = new SessionHarness('esme', { bind: BIND })
    esme.session.unbind(0)
    expect(esme.closed).toBe('local')
  })
})

test('after a standstill, octets may have been sent at any time since the transport was last read empty', () => {
  const esme = boundEsme()
  esme.at(1_000)
  esme.nowMs = 6_000
  esme.peer(DELIVER)
  expect(esme.session.lastReceivedMs).toBe(1_000)
  esme.at(6_000).peer(DELIVER)
  expect(esme.session.lastReceivedMs).toBe(6_000)
})

test('what was held up while reading was paused may be as old as the pause', () => {
  const esme = boundEsme({ inboundLimit: 1 })
  esme.at(1_000).peer({ ...DELIVER, sequence: 8 }, { ...DELIVER, sequence: 9 })
  esme.at(6_000)
  for (const request of esme.requests) esme.respond(request)
  esme.at(6_001)
  esme.peer(DELIVER)
  expect(esme.session.lastReceivedMs).toBe(1_000)
  for (const request of esme.requests) esme.respond(request)
  esme.at(6_250).at(6_500)
  esme.peer(DELIVER)
  expect(esme.session.lastReceivedMs).toBe(6_500)
})

describe('the end', () => {
  test('is reported once, and nothing is done after it', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.session.close({ code: 'local' })
    esme.session.close({ code: 'peer_closed' })
    esme.peer({ ...DELIVER, sequence: 1 }, rawFrame(0x110, 1)).at(1e9)
    esme.sent()
    expect(esme.closes).toEqual([[{ code: 'local' }, ['a']]])
    expect([esme.requests, esme.send(SUBMIT, 'b'), esme.sent()]).toEqual([[], NOT_BOUND, []])
  })

  test('a handler may end the session while a chunk is worked on: the rest of it is dropped', () => {
    const seen: number[] = []
    const esme: SessionHarness = boundEsme(
      {},
      {
        onRequest(pdu) {
          seen.push(pdu.sequence)
          esme.session.close({ code: 'local' })
        },
      },
    )
    esme.peer({ ...DELIVER, sequence: 1 }, { ...DELIVER, sequence: 2 })
    expect(seen).toEqual([1])
  })
})
