import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseReceipt } from '../../src/domain/carriers/receipts.ts'
import { segmentText } from '../../src/domain/text/segments.ts'
import type { PduOf } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import {
  boundEsme,
  cleanUp,
  type Esme,
  esmeTo,
  simulated,
  submit,
  submitTo,
  until,
} from './simulator-harness.ts'

afterEach(cleanUp)

const receiptOf = (pdu: PduOf<'deliver_sm'>) => parseReceipt(pdu.short_message.toString('latin1'), pdu.tlvs)
const statesOf = (esme: Esme) => esme.delivered.map((pdu) => receiptOf(pdu)?.state)

describe('binds', () => {
  test.each([
    ['bind_transceiver', 'BOUND_TRX'],
    ['bind_transmitter', 'BOUND_TX'],
    ['bind_receiver', 'BOUND_RX'],
  ] as const)('%s', async (command, state) => {
    const bound = vi.fn()
    const simulator = await simulated({ onBind: bound })
    const { link } = await boundEsme(simulator, { bind: { command } })
    expect(link.state).toBe(state)
    const bind = { systemId: 'esme', mode: command, isHandset: false, remoteAddress: '127.0.0.1' }
    expect(simulator.binds).toEqual([bind])
    expect(bound).toHaveBeenCalledWith(bind)
  })

  const credentials = [{ systemId: 'esme', password: 'secret' }, { systemId: 'open' }]

  test.each([
    ['esme', 'wrong', STATUSES.ESME_RINVPASWD],
    ['nobody', 'secret', STATUSES.ESME_RINVSYSID],
  ])('%s with password %s is refused', async (system_id, password, status) => {
    const simulator = await simulated({ credentials })
    const esme = esmeTo(simulator, { bind: { system_id, password } })
    expect(await esme.ended).toEqual({ code: 'bind_rejected', status })
    expect(simulator.binds).toEqual([])
  })

  test.each([
    ['esme', 'secret'],
    ['open', 'any'],
    ['handset', 'any'],
  ])('%s with password %s is accepted', async (system_id, password) => {
    const simulator = await simulated({ credentials })
    await boundEsme(simulator, { bind: { system_id, password } })
  })

  test('an unbind ends the session', async () => {
    const unbound = vi.fn()
    const simulator = await simulated({ onUnbind: unbound })
    const esme = await boundEsme(simulator)
    await esme.link.unbind()
    expect(await esme.ended).toEqual({ code: 'unbound' })
    expect(unbound).toHaveBeenCalledWith(expect.objectContaining({ systemId: 'esme' }), {
      code: 'peer_unbound',
    })
    expect(simulator.stats.binds).toBe(0)
  })

  test('stop unbinds every session and frees the port', async () => {
    const simulator = await simulated()
    const esmes = [
      await boundEsme(simulator),
      await boundEsme(simulator, { bind: { command: 'bind_receiver' } }),
    ]
    await simulator.stop()
    for (const esme of esmes) expect(await esme.ended).toEqual({ code: 'peer_unbound' })
    const again = await simulated({ port: simulator.port })
    expect(again.port).toBe(simulator.port)
  })

  test('a port in use', async () => {
    const simulator = await simulated()
    await expect(simulated({ port: simulator.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('outcomes', () => {
  test.each([
    ['15551230000', 'DELIVRD', 2, '000'],
    ['15551231001', 'UNDELIV', 5, '027'],
    ['15551231002', 'EXPIRED', 3, '027'],
    ['15551231003', 'REJECTD', 8, '013'],
    ['15551231004', 'UNKNOWN', 7, '000'],
    ['15551231010', 'DELIVRD', 2, '000'],
  ])('%s: %s', async (destination, state, messageState, err) => {
    const esme = await boundEsme(await simulated())
    const { status, messageId } = await submit(esme, submitTo(destination))
    expect(status).toBe(STATUSES.ESME_ROK)
    await until(() => esme.delivered.length > 0)
    const [pdu] = esme.delivered
    expect(pdu).toMatchObject({
      esm_class: 4,
      source_addr: destination,
      source_addr_ton: 1,
      destination_addr: '12345',
      dest_addr_ton: 3,
      tlvs: { receipted_message_id: messageId, message_state: messageState },
    })
    expect(pdu!.short_message.toString('latin1')).toContain(
      ` stat:${state} err:${err} mccmnc:310260 text:hello`,
    )
    expect(esme.events).toEqual([`resp id:${messageId}`, `deliver id:${messageId}`])
  })

  test('1005: no receipt', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator)
    expect((await submit(esme, submitTo('15551231005'))).status).toBe(STATUSES.ESME_ROK)
    // A later message's receipt is there: an earlier one would be too.
    await submit(esme, submitTo('15551230000'))
    await until(() => simulator.stats.receipts === 1)
    expect(simulator.stats).toMatchObject({ accepted: 2, scheduled: 0, kept: 0 })
    expect(esme.delivered).toHaveLength(1)
  })

  test('1006: submit refused, every time', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator)
    for (let attempt = 0; attempt < 4; attempt += 1) {
      expect(await submit(esme, submitTo('15551231006'))).toEqual({
        status: STATUSES.ESME_RINVDSTADR,
        messageId: '',
      })
    }
    expect(simulator.stats).toMatchObject({ submits: 4, accepted: 0, refused: 4, throttled: 0 })
  })

  test('1007: each message is throttled twice, then accepted', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator)
    const texts = ['one', 'two', 'one', 'two', 'one', 'two', 'one']
    const statuses: number[] = []
    for (const text of texts) {
      const pdu = submitTo('15551231007', { short_message: Buffer.from(text) })
      statuses.push((await submit(esme, pdu)).status)
    }
    expect(statuses).toEqual([0x58, 0x58, 0x58, 0x58, 0, 0, 0x58])
    expect(simulator.stats).toMatchObject({ accepted: 2, throttled: 5 })
    await until(() => esme.delivered.length === 2)
  })

  test('1008: the receipt comes before the submit response', async () => {
    const esme = await boundEsme(await simulated())
    const { messageId } = await submit(esme, submitTo('15551231008'))
    expect(esme.events).toEqual([`deliver id:${messageId}`, `resp id:${messageId}`])
    expect(statesOf(esme)).toEqual(['DELIVRD'])
  })

  test('1008: the response comes too when no bind can take the receipt, or none is wanted', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator, { bind: { command: 'bind_transmitter' } })
    expect((await submit(esme, submitTo('15551231008'))).status).toBe(STATUSES.ESME_ROK)
    await until(() => simulator.stats.kept === 1)
    const unwanted = submitTo('15551231008', { registered_delivery: 0 })
    expect((await submit(esme, unwanted)).status).toBe(STATUSES.ESME_ROK)
  })

  test('1009: receipts repeated and out of order', async () => {
    const esme = await boundEsme(await simulated())
    const { messageId } = await submit(esme, submitTo('15551231009'))
    await until(() => esme.delivered.length === 3)
    expect(statesOf(esme)).toEqual(['DELIVRD', 'ENROUTE', 'DELIVRD'])
    for (const pdu of esme.delivered) expect(pdu.tlvs.receipted_message_id).toBe(messageId)
  })
})

describe('submits', () => {
  test('data_sm is a submit too', async () => {
    const simulator = await simulated({ recordSubmissions: true })
    const esme = await boundEsme(simulator)
    const { messageId } = await submit(esme, {
      command: 'data_sm',
      source_addr: '12345',
      destination_addr: '447700900123',
      registered_delivery: 1,
      tlvs: { message_payload: Buffer.from('hello') },
    })
    await until(() => esme.delivered.length === 1)
    expect(receiptOf(esme.delivered[0]!)).toMatchObject({ carrierMessageId: messageId, mccmnc: '23415' })
    expect(simulator.submissions[0]).toMatchObject({ messageId, payload: Buffer.from('hello') })
  })

  test.each([
    ['destination', { destination_addr: '' }, STATUSES.ESME_RINVDSTADR],
    ['destination', { destination_addr: '1'.repeat(21) }, STATUSES.ESME_RINVDSTADR],
    ['source', { source_addr: '1'.repeat(21) }, STATUSES.ESME_RINVSRCADR],
  ])('a %s that no receipt could carry', async (_, fields, status) => {
    const esme = await boundEsme(await simulated())
    const pdu = { command: 'data_sm', destination_addr: '447700900123', ...fields } as const
    expect((await submit(esme, pdu)).status).toBe(status)
  })

  test.each([
    [{ command: 'query_sm', message_id: '1' } as const, STATUSES.ESME_RQUERYFAIL],
    [{ command: 'cancel_sm', message_id: '1' } as const, STATUSES.ESME_RCANCELFAIL],
    [{ command: 'replace_sm', message_id: '1' } as const, STATUSES.ESME_RREPLACEFAIL],
    [{ command: 'submit_multi', body: Buffer.alloc(3) } as const, STATUSES.ESME_RINVCMDID],
  ])('$command is refused', async (pdu, status) => {
    const esme = await boundEsme(await simulated())
    expect((await esme.link.request(pdu)).status).toBe(status)
  })

  test('no receipt that was not asked for', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator)
    await submit(esme, submitTo('15551230000', { registered_delivery: 0 }))
    await submit(esme, submitTo('15551230000', { registered_delivery: 2 }))
    await submit(esme, submitTo('15551231001', { registered_delivery: 2 }))
    await until(() => simulator.stats.receipts === 1)
    expect(simulator.stats.scheduled).toBe(0)
    expect(statesOf(esme)).toEqual(['UNDELIV'])
  })

  test('each segment has its own id and receipt', async () => {
    const simulator = await simulated({ recordSubmissions: true })
    const esme = await boundEsme(simulator)
    const segments = segmentText('x'.repeat(400), 9).pdus.map((pdu) => pdu.shortMessage)
    const submitted = await Promise.all(
      segments.map((segment) =>
        submit(esme, submitTo('15551230000', { esm_class: 0x40, short_message: segment })),
      ),
    )
    await until(() => esme.delivered.length === 3)
    const ids = submitted.map(({ messageId }) => messageId)
    expect(new Set(ids).size).toBe(3)
    expect(esme.delivered.map((pdu) => pdu.tlvs.receipted_message_id).sort()).toEqual(ids.toSorted())
    expect(simulator.submissions.map(({ payload }) => payload)).toEqual(segments)
  })

  test('are told to the hook and kept in the ledger when accepted', async () => {
    const told: [string, string][] = []
    const simulator = await simulated({
      recordSubmissions: true,
      onSubmit: (pdu, messageId) => told.push([pdu.destination_addr, messageId]),
    })
    const esme = await boundEsme(simulator)
    const { messageId } = await submit(esme, submitTo('15551230000'))
    await submit(esme, submitTo('15551231006'))
    expect(told).toEqual([['15551230000', messageId]])
    expect(simulator.submissions).toEqual([
      {
        messageId,
        source: '12345',
        destination: '15551230000',
        payload: Buffer.from('hello'),
        receivedAt: expect.any(Date),
      },
    ])
  })

  test('ids in another base than the receipt', async () => {
    const simulator = await simulated({ messageIds: 'hex', receiptIds: 'decimal', firstMessageNumber: 255 })
    const esme = await boundEsme(simulator)
    expect((await submit(esme, submitTo('15551230000'))).messageId).toBe('ff')
    await until(() => esme.delivered.length === 1)
    expect(esme.delivered[0]!.short_message.toString('latin1')).toMatch(/^id:255 /)
    expect(esme.delivered[0]!.tlvs.receipted_message_id).toBe('255')
  })

  test('above the throughput', async () => {
    const simulator = await simulated({ throughput: 3 })
    const esme = await boundEsme(simulator)
    const submits = Array.from({ length: 5 }, () => submit(esme, submitTo('15551230000')))
    const statuses = (await Promise.all(submits)).map(({ status }) => status)
    expect(statuses).toEqual([0, 0, 0, STATUSES.ESME_RTHROTTLED, STATUSES.ESME_RTHROTTLED])
    expect(simulator.stats).toMatchObject({ accepted: 3, throttled: 2, refused: 2 })
  })

  test('with as many receipts scheduled as there may be', async () => {
    const simulator = await simulated({ scheduleLimit: 2, receiptDelayMs: 60_000 })
    const esme = await boundEsme(simulator)
    const submits = Array.from({ length: 3 }, () => submit(esme, submitTo('15551230000')))
    expect((await Promise.all(submits)).map(({ status }) => status)).toEqual([0, 0, STATUSES.ESME_RMSGQFUL])
  })

  test('each draws its delay from the range', async () => {
    const random = vi.fn(() => 0.999)
    const simulator = await simulated({ receiptDelayMs: [0, 1], random })
    const esme = await boundEsme(simulator)
    await submit(esme, submitTo('15551230000'))
    await until(() => esme.delivered.length === 1)
    expect(random).toHaveBeenCalledTimes(1)
  })
})

test('a thousand messages over two binds, every receipt once', async () => {
  const simulator = await simulated({ receiptDelayMs: [0, 20] })
  const esmes = [await boundEsme(simulator), await boundEsme(simulator)]
  const ids = new Set<string>()
  const run = async (esme: Esme, index: number) => {
    for (let count = 0; count < 50; count += 1) {
      ids.add((await submit(esme, submitTo(`1555123${2_000 + index}`))).messageId)
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, index) => run(esmes[index % 2]!, index)))
  await until(() => simulator.stats.receipts === 1_000)
  const receipted = esmes.flatMap((esme) => esme.delivered.map((pdu) => pdu.tlvs.receipted_message_id))
  expect(receipted).toHaveLength(1_000)
  expect(new Set(receipted)).toEqual(ids)
  for (const esme of esmes) expect(esme.delivered.length).toBeGreaterThan(300)
})

test('a simulator that goes away without an unbind is seen', async () => {
  const simulator = await simulated()
  const esme = await boundEsme(simulator)
  simulator.dropConnections()
  expect((await esme.ended).code).toBe('peer_closed')
})
