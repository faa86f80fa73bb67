import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { WINDOW_FULL } from '../../src/smpp/session.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { anyPduAtAll } from './pdu-arbitrary.ts'
import { boundEsme, boundSmsc, rawFrame, SessionHarness } from './session-harness.ts'

const SUBMIT = { command: 'submit_sm', destination_addr: '447700900123' } as const
const DELIVER = { command: 'deliver_sm', source_addr: '447700900123' } as const

describe('our requests', () => {
  test('of several whose time is up none is forgotten when the first ends the session', () => {
    const esme: SessionHarness = boundEsme(
      { responseTimeoutMs: 1_000 },
      {
        onTimeout: (token) => {
          esme.timeouts.push(token)
          esme.session.close({ code: 'submits_unanswered' })
        },
      },
    )
    for (const token of ['a', 'b', 'c']) esme.send(SUBMIT, token)
    esme.at(esme.nowMs + 1_000)
    expect([esme.timeouts, esme.closes]).toEqual([['a'], [[{ code: 'submits_unanswered' }, ['b', 'c']]]])
  })

  test('B348 responses out of order are matched by sequence', () => {
    const esme = boundEsme()
    const sequences = ['a', 'b', 'c'].map((token) => esme.send(SUBMIT, token))
    for (const i of [2, 0, 1])
      esme.peer({ command: 'submit_sm_resp', sequence: sequences[i]!, message_id: `id${i}` })
    expect(esme.responses).toMatchObject([
      ['c', { message_id: 'id2' }],
      ['a', { message_id: 'id0' }],
      ['b', { message_id: 'id1' }],
    ])
  })

  test('an answer comes with the time it took', () => {
    const latencies: number[] = []
    const esme = boundEsme({}, { onResponse: (_token, _pdu, latencyMs) => latencies.push(latencyMs) })
    esme.send(SUBMIT, 'a')
    esme.at(40).send(SUBMIT, 'b')
    esme
      .at(100)
      .peer(
        { command: 'submit_sm_resp', sequence: 3 },
        { command: 'submit_sm_resp', sequence: 2, status: STATUSES.ESME_RSYSERR },
      )
    expect(latencies).toEqual([60, 100])
  })

  test('the window bounds them, and each answer makes room', () => {
    const esme = boundEsme({ windowSize: 2 })
    expect([esme.send(SUBMIT, 'a'), esme.send(SUBMIT, 'b'), esme.send(SUBMIT, 'c')]).toEqual([
      2,
      3,
      WINDOW_FULL,
    ])
    esme.peer({ command: 'submit_sm_resp', sequence: 3 })
    expect([esme.session.windowFree, esme.send(SUBMIT, 'c')]).toEqual([1, 4])
  })

  test('B341 B342 a response with an unknown sequence, or a second one, is ignored and counted', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    const response = { command: 'submit_sm_resp', sequence: 2 } as const
    esme.peer(response, response, { ...response, sequence: 99 }, { ...response, sequence: 0 })
    expect(esme.responses).toHaveLength(1)
    expect([esme.session.anomalies.unmatched_response, esme.closed, esme.sent().length]).toEqual([3, null, 1])
  })

  test('a response of another command does not settle a request', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.peer({ command: 'data_sm_resp', sequence: 2 }, { command: 'enquire_link_resp', sequence: 2 })
    expect([esme.responses, esme.session.anomalies.unmatched_response]).toEqual([[], 2])
    expect(esme.peer({ command: 'submit_sm_resp', sequence: 2 }).responses).toHaveLength(1)
  })

  test('B344 submit_sm_resp ESME_ROK of 16 octets settles its request', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.peer(rawFrame(0x80000004, 2))
    expect(esme.responses).toMatchObject([['a', { command: 'submit_sm_resp', status: 0, message_id: '' }]])
  })

  test('a generic_nack settles the request it names', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.peer({ command: 'generic_nack', sequence: 2, status: STATUSES.ESME_RINVCMDLEN })
    expect(esme.responses).toMatchObject([
      ['a', { command: 'generic_nack', status: STATUSES.ESME_RINVCMDLEN }],
    ])
  })

  test('a response whose body cannot be read settles its request as malformed', () => {
    const esme = boundEsme()
    esme.send({ command: 'query_sm', message_id: '1' }, 'a')
    esme.peer(rawFrame(0x80000003, 2, Buffer.from([0x31, 0, 0])))
    expect(esme.responses).toMatchObject([['a', { command: 'malformed', of: 'query_sm_resp', sequence: 2 }]])
  })

  test('no response within 60 s: reported, its place is free, and a late response brings the token', () => {
    const esme = boundEsme({ windowSize: 1, enquireLinkIntervalMs: 1e9 })
    esme.send(SUBMIT, 'a')
    expect(esme.at(59_999).timeouts).toEqual([])
    expect(esme.at(60_000).timeouts).toEqual(['a'])
    expect(esme.send(SUBMIT, 'b')).toBe(3)
    const late = { command: 'submit_sm_resp', sequence: 2, message_id: 'x' } as const
    esme.peer(late, late)
    expect(esme.lateResponses).toMatchObject([['a', { message_id: 'x' }]])
    expect(esme.responses).toEqual([])
    expect(esme.session.anomalies).toMatchObject({ late_response: 1, unmatched_response: 1 })
  })

  test('sequence numbers wrap and skip the ones in flight', () => {
    const esme = boundEsme({ initialSequence: 0x7ffffffd })
    expect(esme.send(SUBMIT, 'a')).toBe(0x7fffffff)
    expect(esme.send(SUBMIT, 'b')).toBe(1)
    expect(esme.sentHeads().map(([, , sequence]) => sequence)).toEqual([0x7fffffff, 1])
  })

  test('a request that does not fit is refused and sends nothing', () => {
    const esme = boundEsme()
    expect(() => esme.send({ ...SUBMIT, source_addr: '1'.repeat(30) }, 'a')).toThrow(RangeError)
    expect([esme.sent(), esme.session.windowFree]).toEqual([[], 10])
  })
})

describe('requests of the peer', () => {
  test('they are answered in the order and with the body the application chooses', () => {
    const smsc = boundSmsc().peer({ ...SUBMIT, sequence: 5 }, { ...SUBMIT, sequence: 6 })
    const [first, second] = smsc.requests
    expect(smsc.respond(second!, 0, { message_id: 'm6' })).toBe(true)
    expect(smsc.respond(first!, STATUSES.ESME_RTHROTTLED)).toBe(true)
    expect(smsc.respond(first!)).toBe(false)
    expect(smsc.sent()).toMatchObject([
      { command: 'submit_sm_resp', sequence: 6, status: 0, message_id: 'm6' },
      { command: 'submit_sm_resp', sequence: 5, status: STATUSES.ESME_RTHROTTLED },
    ])
  })

  test('B340 sequence 0, 0x80000000 and a reused one are answered with the same number', () => {
    const smsc = boundSmsc()
    for (const sequence of [0, 0x80000000, 0xffffffff, 5, 5]) smsc.peer({ ...SUBMIT, sequence })
    for (const request of smsc.requests) smsc.respond(request)
    expect(smsc.sentHeads().map(([, , sequence]) => sequence)).toEqual([0, 0x80000000, 0xffffffff, 5, 5])
    expect(smsc.closed).toBeNull()
  })

  test('B338 unknown command: generic_nack ESME_RINVCMDID, the session stays up', () => {
    const esme = boundEsme().peer(rawFrame(0x110, 12), { ...DELIVER, sequence: 13 })
    expect(esme.sentHeads()).toEqual([['generic_nack', STATUSES.ESME_RINVCMDID, 12]])
    expect([esme.closed, esme.requests.length, esme.session.anomalies.unknown_command]).toEqual([null, 1, 1])
  })

  test('an unknown response is not answered', () => {
    expect(boundEsme().peer(rawFrame(0x80000110, 12)).sent()).toEqual([])
  })

  test.each([
    [
      'message longer than the PDU',
      0x05,
      '0000000000000000000000000000000009',
      'deliver_sm_resp',
      STATUSES.ESME_RINVMSGLEN,
    ],
    ['nothing in it', 0x05, '', 'deliver_sm_resp', STATUSES.ESME_RINVCMDLEN],
    ['source without NUL', 0x103, `000000${'31'.repeat(65)}`, 'data_sm_resp', STATUSES.ESME_RINVSRCADR],
  ])(
    'a malformed request, %s, gets its own response naming the fault',
    (_case, id, body, command, status) => {
      const esme = boundEsme().peer(rawFrame(id, 3, Buffer.from(body, 'hex')), { ...DELIVER, sequence: 4 })
      expect(esme.sentHeads()).toEqual([[command, status, 3]])
      expect([esme.closed, esme.requests.length, esme.session.anomalies.malformed_pdu]).toEqual([null, 1, 1])
    },
  )

  test('an ESME takes a string longer than SMPP allows, and counts it; an SMSC refuses it', () => {
    const long = (id: number) =>
      rawFrame(id, 3, Buffer.from(`smscsim\0${'\0'.repeat(6)}${'\0'.repeat(11)}`, 'latin1'))
    const esme = boundEsme().peer(long(0x05))
    expect(esme.requests).toMatchObject([{ command: 'deliver_sm', service_type: 'smscsim' }])
    expect([esme.sent(), esme.session.anomalies.overlong_string]).toEqual([[], 1])
    const smsc = boundSmsc().peer(long(0x04))
    expect(smsc.sentHeads()).toEqual([['submit_sm_resp', STATUSES.ESME_RINVSERTYP, 3]])
    expect([smsc.requests, smsc.session.anomalies.overlong_string]).toEqual([[], 1])
  })

  test('a truncated TLV is counted and the request still handed over', () => {
    const bytes = Buffer.concat([encodePdu({ ...DELIVER, sequence: 2 }), Buffer.from([0x04, 0x27, 0])])
    bytes.writeUInt32BE(bytes.length, 0)
    const esme = boundEsme().peer(bytes)
    expect([esme.requests.length, esme.session.anomalies.truncated_tlv]).toEqual([1, 1])
  })

  test('without a handler a message is refused for now, so that the peer keeps it', () => {
    const esme = boundEsme({}, { onRequest: undefined } as never).peer({ ...DELIVER, sequence: 2 })
    expect(esme.sentHeads()).toEqual([['deliver_sm_resp', STATUSES.ESME_RX_T_APPN, 2]])
  })

  test('reading pauses above the limit of unanswered requests and resumes at half of it', () => {
    const esme = boundEsme({ inboundLimit: 4 })
    for (let sequence = 1; sequence <= 4; sequence++) esme.peer({ ...DELIVER, sequence })
    expect(esme.session.readPaused).toBe(false)
    esme.peer({ ...DELIVER, sequence: 5 })
    expect(esme.session.readPaused).toBe(true)
    for (const request of esme.requests.slice(0, 2)) esme.respond(request)
    expect(esme.session.readPaused).toBe(true)
    esme.respond(esme.requests[2]!)
    expect(esme.session.readPaused).toBe(false)
  })

  test('an application that never answers does not hold the session for ever', () => {
    const esme = boundEsme({ inboundLimit: 0, enquireLinkIntervalMs: 1_000 }).peer({
      ...DELIVER,
      sequence: 5,
    })
    expect(esme.at(59_999).closed).toBeNull()
    expect(esme.sent()).toEqual([])
    expect(esme.at(60_000).closed).toBe('inbound_stalled')
  })
})

describe('framing faults', () => {
  test.each([
    ['B330 command_length 0', 0],
    ['B333 command_length above the limit', 65_553],
  ])('%s: generic_nack ESME_RINVCMDLEN, then closed', (_case, length) => {
    const bytes = rawFrame(0x15, 21)
    bytes.writeUInt32BE(length, 0)
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.sent()
    esme.peer(bytes)
    expect(esme.sentHeads()).toEqual([['generic_nack', STATUSES.ESME_RINVCMDLEN, 21]])
    expect(esme.closes).toEqual([[{ code: 'frame_error' }, ['a']]])
  })

  test('B335 a PDU not complete 10 s after its first octet closes the session', () => {
    const esme = boundEsme()
      .at(1_000)
      .peer(rawFrame(5, 1, Buffer.alloc(50)).subarray(0, 20))
    expect(esme.at(10_999).closed).toBeNull()
    expect(esme.at(11_000).closed).toBe('pdu_read_timeout')
  })
})

describe('enquire_link', () => {
  test('B386 sent after 30 s of silence; unanswered for 10 s, the session closes', () => {
    const esme = boundEsme({ responseTimeoutMs: 5_000 }).at(29_999)
    expect(esme.sent()).toEqual([])
    expect(esme.at(30_000).sentHeads()).toEqual([['enquire_link', 0, 2]])
    expect(esme.at(39_999).closed).toBeNull()
    expect(esme.at(40_000).closed).toBe('enquire_link_timeout')
  })

  test('an answer, by its response or by generic_nack, starts the silence anew', () => {
    const esme = boundEsme().at(30_000)
    esme.peer({ command: 'enquire_link_resp', sequence: 2 }).at(59_999)
    expect(esme.sentHeads()).toEqual([['enquire_link', 0, 2]])
    expect(esme.at(60_000).sentHeads()).toEqual([['enquire_link', 0, 3]])
    esme.peer({ command: 'generic_nack', sequence: 3, status: 3 }).at(75_000)
    expect(esme.closed).toBeNull()
  })

  test('traffic of the peer keeps it from being sent', () => {
    const esme = boundEsme()
      .at(20_000)
      .peer({ ...DELIVER, sequence: 1 })
      .at(49_999)
    expect(esme.sent()).toEqual([])
  })

  test('sent after silence that follows an answer, once; the session outlives a peer that ignores it', () => {
    const esme = boundEsme({ confirmAnswersMs: 2_000 }).peer({ ...DELIVER, sequence: 1 })
    esme.respond(esme.requests[0]!)
    esme.sent()
    expect(esme.at(1_999).sent()).toEqual([])
    expect(esme.at(2_000).sentHeads()).toEqual([['enquire_link', 0, 2]])
    expect([esme.session.unanswered, esme.at(29_999).sent()]).toEqual([0, []])
    expect(esme.peer({ command: 'enquire_link', sequence: 2 }).at(59_000).closed).toBeNull()
  })

  test('the peer is answered in any state, also before the bind', () => {
    for (const harness of [new SessionHarness('smsc'), boundEsme(), boundSmsc()]) {
      harness.peer({ command: 'enquire_link', sequence: 70 })
      expect(harness.sentHeads()).toEqual([['enquire_link_resp', 0, 70]])
    }
  })

  test('B387 a flood is answered whole, and submits go on', () => {
    const esme = boundEsme()
    const flood = Array.from(
      { length: 1_000 },
      (_, i) => ({ command: 'enquire_link', sequence: i + 1 }) as const,
    )
    esme.peer(...flood)
    expect(esme.send(SUBMIT, 'a')).toBe(2)
    const heads = esme.sentHeads()
    expect(heads).toHaveLength(1_001)
    expect(heads[1_000]).toEqual(['submit_sm', 0, 2])
  })
})

describe('output', () => {
  test('reading pauses while output is blocked; blocked for the response time-out, the session closes', () => {
    const esme = boundEsme()
    esme.session.outputBlocked(true, 0)
    expect(esme.session.readPaused).toBe(true)
    expect(esme.at(59_999).closed).toBeNull()
    expect(esme.at(60_000).closed).toBe('write_timeout')
  })

  test('written out in time, reading resumes', () => {
    const esme = boundEsme()
    esme.session.outputBlocked(true, 0)
    esme.session.outputBlocked(false, 59_999)
    expect([esme.session.readPaused, esme.at(60_000).closed]).toEqual([false, null])
  })
})

test('any PDUs and any octets at any moment: no throw, at most one close', () => {
  const input = fc.oneof(
    anyPduAtAll.map(encodePdu),
    fc.uint8Array({ maxLength: 60 }).map((octets) => Buffer.from(octets)),
  )
  const steps = fc.array(fc.tuple(input, fc.nat({ max: 20_000 })), { maxLength: 10 })
  fc.assert(
    fc.property(steps, fc.boolean(), (sequence, smsc) => {
      const harness = smsc ? boundSmsc() : boundEsme()
      for (const [bytes, afterMs] of sequence) {
        harness.send(smsc ? DELIVER : SUBMIT, 'token')
        harness.peer(bytes).at(harness.nowMs + afterMs)
      }
      expect(harness.closes.length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})
