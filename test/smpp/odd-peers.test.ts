import { afterEach, describe, expect, test } from 'vitest'
import { COMMANDS_BY_NAME } from '../../src/smpp/commands.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { boundEsme as bindEsme, cleanUp } from './connection-harness.ts'
import { boundEsme, rawFrame, SessionHarness } from './session-harness.ts'

const SUBMIT = { command: 'submit_sm', destination_addr: '447700900123' } as const
const DELIVER = { command: 'deliver_sm', source_addr: '447700900123' } as const
const BIND = { command: 'bind_transceiver', system_id: 'esme', password: 'pw' } as const
const BOUND = { command: 'bind_transceiver_resp', sequence: 1, system_id: 'smsc' } as const

afterEach(cleanUp)

describe('an SMSC at odds with the bind', () => {
  const refusals = Object.entries(STATUSES).filter(([, status]) => status !== STATUSES.ESME_ROK)

  test.each(refusals)('%s: the session ends with it', (_name, status) => {
    for (const command of ['bind_transceiver_resp', 'generic_nack'] as const) {
      const esme = new SessionHarness('esme', { bind: BIND }).peer({ command, sequence: 1, status })
      expect(esme.closes).toEqual([[{ code: 'bind_rejected', status }, []]])
    }
  })

  test.each([
    ['a response to another kind of bind', { command: 'bind_receiver_resp', sequence: 1 }],
    ['a response with another sequence', { command: 'bind_transceiver_resp', sequence: 2 }],
    ['enquire_link', { command: 'enquire_link', sequence: 9 }],
    ['outbind', { command: 'outbind', sequence: 9, system_id: 'smsc' }],
    ['deliver_sm', { ...DELIVER, sequence: 9 }],
    ['unbind', { command: 'unbind', sequence: 9 }],
    ['a bind of its own', { ...BIND, sequence: 9 }],
  ] satisfies [string, PduInput][])('%s first: it waits for the answer, and is bound by it', (_name, pdu) => {
    const esme = new SessionHarness('esme', { bind: BIND }).peer(pdu)
    expect([esme.session.state, esme.requests.length]).toEqual(['OPEN', 0])
    expect(esme.peer(BOUND).session.state).toBe('BOUND_TRX')
    expect(esme.closed).toBeNull()
  })

  test('a deliver_sm in one segment with the answer is handed over', () => {
    const esme = new SessionHarness('esme', { bind: BIND }).peer(BOUND, { ...DELIVER, sequence: 1 })
    expect(esme.requests).toMatchObject([{ command: 'deliver_sm', sequence: 1 }])
  })

  test('the answer twice: the second is ignored', () => {
    const esme = new SessionHarness('esme', { bind: BIND }).peer(BOUND, BOUND)
    expect([esme.closed, esme.session.anomalies.unmatched_response]).toEqual([null, 1])
  })
})

describe('a bound SMSC', () => {
  test('that sends every response unasked is ignored', () => {
    const esme = boundEsme()
    const responses = [...COMMANDS_BY_NAME.values()].filter((command) => command.isResponse)
    esme.peer(...responses.map(({ id }) => rawFrame(id, 77)))
    expect([esme.sent(), esme.closed, esme.session.anomalies.unmatched_response]).toEqual([
      [],
      null,
      responses.length,
    ])
  })

  test('that sends every request an ESME sends is refused each, and nothing ends', () => {
    const esme = boundEsme()
    const requests = ['submit_sm', 'query_sm', 'cancel_sm', 'replace_sm', 'bind_receiver'] as const
    esme.peer(...requests.map((command, index) => ({ command, sequence: index + 5 })))
    expect(esme.sentHeads()).toEqual(
      requests.map((command, index) => [`${command}_resp`, STATUSES.ESME_RINVBNDSTS, index + 5]),
    )
    expect([esme.closed, esme.requests]).toEqual([null, []])
  })

  test('that sends every unknown command id is answered generic_nack each', () => {
    const ids = [0x00, 0x0a, 0x0c, 0x22, 0x101, 0x110, 0x111, 0x112, 0x113, 0x10200, 0x7fffffff]
    const esme = boundEsme().peer(...ids.map((id) => rawFrame(id, id)))
    expect(esme.sentHeads()).toEqual(ids.map((id) => ['generic_nack', STATUSES.ESME_RINVCMDID, id]))
    expect(esme.closed).toBeNull()
  })

  test.each([
    ['an error without a body', rawFrame(0x80000004, 2, Buffer.alloc(0), 0x0b), 0x0b, ''],
    ['an error with an id', rawFrame(0x80000004, 2, Buffer.from('id\0'), 0x58), 0x58, 'id'],
    ['a status nobody defined', rawFrame(0x80000004, 2, Buffer.of(0), 0xffffffff), 0xffffffff, ''],
    ['an empty id', rawFrame(0x80000004, 2, Buffer.of(0)), 0, ''],
    ['an id without its NUL', rawFrame(0x80000004, 2, Buffer.from('7f')), 0, '7f'],
    ['octets behind the id', rawFrame(0x80000004, 2, Buffer.from('7f\0\xff\xff\xff', 'latin1')), 0, '7f'],
  ])('that answers with %s settles the submit', (_name, frame, status, id) => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    esme.peer(frame)
    expect(esme.responses).toMatchObject([['a', { command: 'submit_sm_resp', status, message_id: id }]])
    expect(esme.closed).toBeNull()
  })

  test.each([
    ['cut in every place', (body: Buffer) => Array.from(body, (_, length) => body.subarray(0, length))],
    ['with 0xFF in every place', (body: Buffer) => Array.from(body, (_, at) => withOctet(body, at, 0xff))],
    ['with 0x00 in every place', (body: Buffer) => Array.from(body, (_, at) => withOctet(body, at, 0))],
  ])('whose deliver_sm is %s gets one deliver_sm_resp for each', (_name, spoilt) => {
    const whole = encodePdu({ ...DELIVER, short_message: Buffer.from('hello'), tlvs: { message_state: 2 } })
    const bodies = spoilt(whole.subarray(16))
    const esme = boundEsme()
    esme.peer(...bodies.map((body, index) => rawFrame(5, index + 1, body)))
    for (const request of esme.requests) esme.respond(request)
    const answers = esme.sentHeads()
    expect(new Set(answers.map(([command]) => command))).toEqual(new Set(['deliver_sm_resp']))
    expect(answers.map(([, , sequence]) => sequence).sort((a, b) => a - b)).toEqual(
      bodies.map((_, index) => index + 1),
    )
    expect(esme.closed).toBeNull()
  })

  test('that fills the window and never answers: each submit is reported, and room made', () => {
    const esme = boundEsme({ windowSize: 3, enquireLinkIntervalMs: 600_000 })
    for (const token of ['a', 'b', 'c', 'd']) esme.send(SUBMIT, token)
    expect(esme.at(60_000).timeouts).toEqual(['a', 'b', 'c'])
    expect(esme.session.windowFree).toBe(3)
  })

  test('that answers every enquiry while its submits time out keeps its session', () => {
    const esme = boundEsme()
    esme.send(SUBMIT, 'a')
    for (let seconds = 30; seconds <= 120; seconds += 1) {
      esme.at(seconds * 1_000)
      for (const { command, sequence } of esme.sent())
        if (command === 'enquire_link') esme.peer({ command: 'enquire_link_resp', sequence })
    }
    expect([esme.closed, esme.timeouts]).toEqual([null, ['a']])
  })
})

describe('command_length', () => {
  test.each([
    ...Array.from({ length: 16 }, (_, length) => length),
    65_553,
    0x10000000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
  ])('%i: generic_nack, closed, and nothing after it is read', (length) => {
    const frame = rawFrame(5, 8)
    frame.writeUInt32BE(length, 0)
    const esme = boundEsme().peer(frame, { command: 'enquire_link', sequence: 9 })
    expect(esme.sentHeads()).toEqual([['generic_nack', STATUSES.ESME_RINVCMDLEN, 8]])
    expect(esme.closed).toBe('frame_error')
  })
})

describe('over TCP', () => {
  test('a reset in the middle of a PDU hands the submits back', async () => {
    const { peer, connection, ended } = await bindEsme()
    connection.send(SUBMIT, 'a')
    await peer.next()
    peer.write(encodePdu({ ...DELIVER, sequence: 3 }).subarray(0, 20))
    peer.socket.resetAndDestroy()
    const [reason, unanswered] = await ended
    expect(['socket_error', 'peer_closed']).toContain(reason.code)
    expect(unanswered).toEqual(['a'])
  })

  test('an end of the peer\u2019s half alone ends the session', async () => {
    const { peer, connection, ended } = await bindEsme()
    connection.send(SUBMIT, 'a')
    await peer.next()
    peer.socket.end()
    expect(await ended).toEqual([{ code: 'peer_closed' }, ['a']])
    await peer.closed
  })

  test('B330 a peer that keeps its side open is dropped all the same', async () => {
    const { peer, connection, ended } = await bindEsme()
    peer.write(Buffer.alloc(16))
    expect((await ended)[0].code).toBe('frame_error')
    expect(await peer.heads(1)).toEqual([['generic_nack', STATUSES.ESME_RINVCMDLEN, 0]])
    await connection.whenClosed()
  })

  test('garbage poured in without end is dropped with the connection', async () => {
    const { peer, connection, ended } = await bindEsme({ lingerMs: 50 })
    const garbage = Buffer.alloc(65_536)
    const pour = () => {
      while (!peer.socket.destroyed && peer.socket.write(garbage));
    }
    peer.socket.on('drain', pour)
    pour()
    expect((await ended)[0].code).toBe('frame_error')
    await connection.whenClosed()
    await peer.closed
  })
})

function withOctet(body: Buffer, at: number, octet: number): Buffer {
  const changed = Buffer.from(body)
  changed[at] = octet
  return changed
}
