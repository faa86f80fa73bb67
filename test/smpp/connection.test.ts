import { afterEach, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/smpp/connection.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { listen } from '../../src/smpp/listener.ts'
import type { CloseReason } from '../../src/smpp/session-handlers.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import {
  boundEsme,
  boundPeer,
  cleanUp,
  DELIVER,
  esmeTo,
  later,
  SUBMIT,
  smscServer,
} from './connection-harness.ts'
import { RawPeer, rawServer } from './raw-peer.ts'
import { rawFrame } from './session-harness.ts'

afterEach(cleanUp)

describe('as SMSC, to a raw peer', () => {
  test('B336 PDUs in 1-byte segments are read as usual', async () => {
    const peer = await boundPeer()
    const bytes = [2, 3].map((sequence) =>
      encodePdu({ ...SUBMIT, sequence, short_message: Buffer.from('hi') }),
    )
    await peer.writeOctets(Buffer.concat(bytes))
    expect(await peer.heads(2)).toEqual([
      ['submit_sm_resp', 0, 2],
      ['submit_sm_resp', 0, 3],
    ])
  })

  test('B337 1,000 PDUs in one segment are answered in order', async () => {
    const peer = await boundPeer()
    const sequences = Array.from({ length: 1_000 }, (_, i) => i + 2)
    peer.write(...sequences.map((sequence) => ({ ...SUBMIT, sequence })))
    expect(await peer.heads(1_000)).toEqual(sequences.map((sequence) => ['submit_sm_resp', 0, sequence]))
  })

  test.each([
    ['B330', 0],
    ['B330', 15],
    ['B333', 65_553],
    ['B333', 0xffffffff],
  ])('%s command_length %i: generic_nack ESME_RINVCMDLEN, then closed', async (_id, length) => {
    const peer = await boundPeer()
    const bytes = rawFrame(4, 33)
    bytes.writeUInt32BE(length, 0)
    peer.write(bytes)
    expect(await peer.heads(1)).toEqual([['generic_nack', STATUSES.ESME_RINVCMDLEN, 33]])
    await peer.closed
  })

  test('B330 four octets of zero are enough', async () => {
    const peer = await boundPeer()
    peer.write(Buffer.alloc(4))
    expect(await peer.heads(1)).toEqual([['generic_nack', STATUSES.ESME_RINVCMDLEN, 0]])
    await peer.closed
  })

  test('B335 a body that never arrives closes the session', async () => {
    const reasons: string[] = []
    const onClose = (reason: CloseReason) => reasons.push(reason.code)
    const peer = await boundPeer({ onClose }, { pduReadTimeoutMs: 30 })
    peer.write(rawFrame(4, 2, Buffer.alloc(100)).subarray(0, 16))
    await peer.closed
    expect(reasons).toEqual(['pdu_read_timeout'])
  })

  test('B338 unknown command: generic_nack, the session stays up', async () => {
    const peer = await boundPeer()
    peer.write(rawFrame(0x110, 5), { ...SUBMIT, sequence: 6 })
    expect(await peer.heads(2)).toEqual([
      ['generic_nack', STATUSES.ESME_RINVCMDID, 5],
      ['submit_sm_resp', 0, 6],
    ])
  })

  test('B340 sequence 0, 0x80000000, reused: answered with the same number', async () => {
    const peer = await boundPeer()
    const sequences = [0, 0x80000000, 7, 7]
    peer.write(...sequences.map((sequence) => ({ ...SUBMIT, sequence })))
    expect((await peer.heads(4)).map(([, , sequence]) => sequence)).toEqual(sequences)
  })

  test('B387 10,000 enquire_link in a flood are answered, and a submit among them', async () => {
    const peer = await boundPeer()
    const flood = Array.from(
      { length: 10_000 },
      (_, i) => ({ command: 'enquire_link', sequence: i }) as const,
    )
    peer.write(...flood.slice(0, 5_000), { ...SUBMIT, sequence: 77 }, ...flood.slice(5_000))
    const heads = await peer.heads(10_001)
    expect(heads.filter(([command]) => command === 'enquire_link_resp')).toHaveLength(10_000)
    expect(heads[5_000]).toEqual(['submit_sm_resp', 0, 77])
  })

  test('a peer that does not bind is closed', async () => {
    const peer = await RawPeer.connect((await smscServer({}, { bindTimeoutMs: 20 })).port)
    await peer.closed
  })

  test('a peer that never reads is not read from, and closed in the end', async () => {
    const ended = Promise.withResolvers<string>()
    const onClose = (reason: CloseReason) => ended.resolve(reason.code)
    const peer = await boundPeer({ onClose }, { writeLimit: 65_536, responseTimeoutMs: 200 })
    peer.socket.pause()
    const flood = Buffer.concat(
      Array.from({ length: 4_096 }, () => encodePdu({ command: 'enquire_link', sequence: 9 })),
    )
    const more = () => {
      while (!peer.socket.destroyed && peer.socket.write(flood));
    }
    peer.socket.on('drain', more)
    more()
    expect(await ended.promise).toBe('write_timeout')
    peer.socket.destroy()
  })

  test('a peer that reads late gets every answer', async () => {
    const limit = 65_536
    const server = await smscServer({}, { writeLimit: limit })
    const peer = await RawPeer.connect(server.port)
    await peer.bind()
    const [link] = server.connections
    const before = peer.chunks.reduce((sum, octets) => sum + octets, 0)
    peer.socket.pause()
    const flood = Buffer.concat(
      Array.from({ length: 4_096 }, () => encodePdu({ command: 'enquire_link', sequence: 9 })),
    )
    let written = 0
    const more = () => {
      let room = true
      while (room && link!.writableLength <= limit) {
        written += flood.length
        room = peer.socket.write(flood)
      }
    }
    peer.socket.on('drain', more)
    more()
    await expect.poll(() => link!.writableLength).toBeGreaterThan(limit)
    peer.socket.off('drain', more)
    peer.socket.resume()
    const answered = () => peer.chunks.reduce((sum, octets) => sum + octets, -before)
    await expect.poll(answered).toBe(written)
  })

  test('more peers than allowed are dropped', async () => {
    const { port } = await smscServer({}, { maxConnections: 1 })
    const [first, second] = [await RawPeer.connect(port), await RawPeer.connect(port)]
    await second.closed
    await first.bind()
  })

  test('closing the server drops its peers', async () => {
    const server = await smscServer()
    const peer = await RawPeer.connect(server.port)
    await peer.bind()
    expect(server.connections.size).toBe(1)
    await server.close()
    await peer.closed
    expect(server.connections.size).toBe(0)
  })

  test('a port in use is an error of listen', async () => {
    const server = await smscServer()
    await expect(listen({ port: server.port }, () => ({}))).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('as ESME, to a raw SMSC', () => {
  test('B348 responses out of order, B341 unknown, B342 twice', async () => {
    const { peer, connection, responses } = await boundEsme()
    for (const token of ['a', 'b', 'c']) connection.send(SUBMIT, token)
    const sequences = (await peer.heads(3)).map(([, , sequence]) => sequence)
    const answer = (sequence: number) =>
      ({ command: 'submit_sm_resp', sequence, message_id: `m${sequence}` }) as const
    peer.write(
      answer(sequences[2]!),
      answer(99),
      answer(sequences[0]!),
      answer(sequences[0]!),
      answer(sequences[1]!),
    )
    await expect.poll(() => responses.length).toBe(3)
    expect(responses.map(([token]) => token)).toEqual(['c', 'a', 'b'])
    expect(connection.anomalies.unmatched_response).toBe(2)
    expect(connection.state).toBe('BOUND_TRX')
  })

  test('a response after its time-out brings its token', async () => {
    const timeouts: string[] = []
    const { peer, connection, late } = await boundEsme(
      { responseTimeoutMs: 20 },
      { onTimeout: (token) => timeouts.push(token) },
    )
    connection.send(SUBMIT, 'slow')
    await expect.poll(() => timeouts).toEqual(['slow'])
    peer.write({ command: 'submit_sm_resp', sequence: 2 })
    await expect.poll(() => late).toEqual(['slow'])
  })

  test('what is sent in one turn leaves in one write', async () => {
    const { peer, connection } = await boundEsme({ windowSize: 100 })
    const before = peer.chunks.length
    for (let i = 0; i < 100; i++) connection.send(SUBMIT, `${i}`)
    await peer.heads(100)
    expect(peer.chunks.length - before).toBe(1)
  })

  test('what fills the window, and the last answer, leave before the turn is over', async () => {
    const { peer, connection, requests } = await boundEsme({ windowSize: 2 })
    peer.write({ ...DELIVER, sequence: 7 }, { ...DELIVER, sequence: 8 })
    await expect.poll(() => requests.length).toBe(2)
    for (const request of requests) connection.respond(request, STATUSES.ESME_ROK)
    await new Promise(process.nextTick)
    for (const token of ['a', 'b']) connection.send(SUBMIT, token)
    await new Promise(process.nextTick)
    // Whatever was not written yet goes with the socket.
    connection.destroy()
    expect(await peer.heads(4)).toEqual([
      ['deliver_sm_resp', 0, 7],
      ['deliver_sm_resp', 0, 8],
      ['submit_sm', 0, 2],
      ['submit_sm', 0, 3],
    ])
  })

  test('B386 enquire_link never answered: closed', async () => {
    const { peer, ended } = await boundEsme({ enquireLinkIntervalMs: 20, enquireLinkTimeoutMs: 20 })
    expect((await peer.next()).command).toBe('enquire_link')
    expect(await ended).toEqual([{ code: 'enquire_link_timeout' }, []])
  })

  test('B388 unbind mid-window: unbind_resp, the un-acked submits handed back, the socket closed', async () => {
    const { peer, connection, ended } = await boundEsme()
    for (const token of ['a', 'b', 'c']) connection.send(SUBMIT, token)
    await peer.heads(3)
    peer.write({ command: 'submit_sm_resp', sequence: 3 }, { command: 'unbind', sequence: 5 })
    expect(await peer.heads(1)).toEqual([['unbind_resp', 0, 5]])
    expect(await ended).toEqual([{ code: 'peer_unbound' }, ['a', 'c']])
    peer.socket.end()
    await connection.whenClosed()
  })

  test('B390 bind_resp never arriving: closed', async () => {
    const { port, accepted, server } = await rawServer()
    later(() => server.close())
    const { connection, ended } = esmeTo(port, { bindTimeoutMs: 30 })
    expect((await (await accepted).next()).command).toBe('bind_transceiver')
    await expect(connection.whenBound()).rejects.toMatchObject({
      code: 'closed',
      reason: { code: 'bind_timeout' },
    })
    expect((await ended)[0]).toEqual({ code: 'bind_timeout' })
    await connection.whenClosed()
  })

  test('a refused bind', async () => {
    const { port } = await smscServer({ onBind: (pdu, link) => link.respond(pdu, STATUSES.ESME_RINVPASWD) })
    const { ended } = esmeTo(port)
    expect(await ended).toEqual([{ code: 'bind_rejected', status: STATUSES.ESME_RINVPASWD }, []])
  })

  test('a peer that does not close its side is dropped after the linger time', async () => {
    const { connection } = await boundEsme({ lingerMs: 20 })
    await connection.close()
    expect(connection.state).toBe('CLOSED')
  })

  test('a connection cut off: the un-acked submits are handed back', async () => {
    const { peer, connection, ended } = await boundEsme()
    connection.send(SUBMIT, 'a')
    await peer.next()
    peer.socket.resetAndDestroy()
    const [reason, unanswered] = await ended
    expect(['socket_error', 'peer_closed']).toContain(reason.code)
    expect(unanswered).toEqual(['a'])
  })

  test('reading pauses above the inbound limit: nothing later is answered before there is room', async () => {
    const { peer, connection, requests } = await boundEsme({ inboundLimit: 3 })
    peer.write(...[11, 12, 13, 14].map((sequence) => ({ ...DELIVER, sequence })))
    await expect.poll(() => requests.length).toBe(4)
    peer.write({ command: 'enquire_link', sequence: 15 })
    for (const request of requests) connection.respond(request, STATUSES.ESME_ROK)
    expect((await peer.heads(5)).map(([, , sequence]) => sequence)).toEqual([11, 12, 13, 14, 15])
  })

  test('unbind waits for what is in flight, then for unbind_resp', async () => {
    const { peer, connection, responses, ended } = await boundEsme()
    connection.send(SUBMIT, 'a')
    await peer.next()
    const unbound = connection.unbind()
    peer.write({ command: 'submit_sm_resp', sequence: 2 })
    expect(await peer.heads(1)).toEqual([['unbind', 0, 3]])
    peer.write({ command: 'unbind_resp', sequence: 3 })
    peer.socket.end()
    await unbound
    expect(responses).toHaveLength(1)
    expect(await ended).toEqual([{ code: 'unbound' }, []])
  })

  test('a handler that throws ends the session with its error', async () => {
    const fault = new Error('in the handler')
    const { peer, ended, connection } = await boundEsme(
      {},
      {
        onRequest() {
          throw fault
        },
      },
    )
    connection.send(SUBMIT, 'a')
    peer.write(DELIVER)
    expect(await ended).toEqual([{ code: 'handler_error', error: fault }, ['a']])
  })
})

describe('request', () => {
  test('gives the answer, also an error, in any order', async () => {
    const { port } = await smscServer({
      onRequest: (pdu, link) =>
        link.respond(pdu, pdu.sequence === 2 ? STATUSES.ESME_RTHROTTLED : STATUSES.ESME_ROK),
    })
    const { connection } = esmeTo(port)
    await connection.whenBound()
    const answers = await Promise.all([connection.request(SUBMIT), connection.request(SUBMIT)])
    expect(answers.map((pdu) => pdu.status)).toEqual([STATUSES.ESME_RTHROTTLED, STATUSES.ESME_ROK])
  })

  test('rejects what is not sent, not answered in time, or cut off', async () => {
    const { connection, ended } = await boundEsme({ windowSize: 1, responseTimeoutMs: 20 })
    const slow = connection.request(SUBMIT)
    await expect(connection.request(SUBMIT)).rejects.toMatchObject({ code: 'not_sent', reason: null })
    await expect(slow).rejects.toMatchObject({ code: 'timeout' })
    await expect(connection.request({ ...SUBMIT, service_type: 'too long' })).rejects.toThrow(RangeError)
    const cut = connection.request(SUBMIT)
    connection.destroy()
    await expect(cut).rejects.toMatchObject({ code: 'closed', reason: { code: 'local' } })
    expect(await ended).toEqual([{ code: 'local' }, []])
    await expect(connection.request(SUBMIT)).rejects.toMatchObject({ code: 'not_sent' })
  })
})

test('1,000 submits and their receipts through a window of 10, both sides ours', async () => {
  const waiting: number[] = []
  const deliverMore = (link: Connection<string>) => {
    while (waiting.length > 0 && link.windowFree > 0) {
      link.send({ ...DELIVER, esm_class: 4, tlvs: { receipted_message_id: `${waiting.shift()}` } }, 'receipt')
    }
  }
  const { port } = await smscServer({
    onRequest(pdu, link) {
      link.respond(pdu, STATUSES.ESME_ROK, { message_id: `${pdu.sequence}` })
      waiting.push(pdu.sequence)
      deliverMore(link)
    },
    onResponse: (_token, _pdu, link) => deliverMore(link),
  })
  const ids = new Set<string>()
  const receipts = new Set<string>()
  let sent = 0
  const pump = (link: Connection<string>) => {
    while (sent < 1_000 && link.windowFree > 0) link.send(SUBMIT, `${sent++}`)
  }
  const { connection } = esmeTo(
    port,
    {},
    {
      onBound: (_pdu, link) => pump(link),
      onResponse(_token, pdu, link) {
        if (pdu.command === 'submit_sm_resp') ids.add(pdu.message_id)
        pump(link)
      },
      onRequest(pdu, link) {
        if (pdu.command === 'deliver_sm') receipts.add(pdu.tlvs.receipted_message_id ?? '')
        link.respond(pdu, STATUSES.ESME_ROK)
      },
    },
  )
  await expect.poll(() => [ids.size, receipts.size]).toEqual([1_000, 1_000])
  expect(receipts).toEqual(ids)
  await connection.unbind()
})
