import { afterEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { boundEsme, cleanUp, type Esme, simulated, submit, submitTo, until } from './simulator-harness.ts'

afterEach(cleanUp)

const RECEIVER = { command: 'bind_receiver' } as const
const TRANSMITTER = { command: 'bind_transmitter' } as const
const textsOf = (esme: Esme) => esme.delivered.map((pdu) => pdu.short_message.toString('latin1'))
const idsOf = (esme: Esme) => esme.delivered.map((pdu) => pdu.tlvs.receipted_message_id)

describe('who gets it', () => {
  test('receipts of a transmitter go to the receiver of the same system_id', async () => {
    const simulator = await simulated()
    const receiver = await boundEsme(simulator, { bind: RECEIVER })
    const stranger = await boundEsme(simulator, { bind: { system_id: 'other' } })
    const transmitter = await boundEsme(simulator, { bind: TRANSMITTER })
    const { messageId } = await submit(transmitter, submitTo('15551230000'))
    await until(() => simulator.stats.receipts === 1)
    expect(idsOf(receiver)).toEqual([messageId])
    expect([...stranger.delivered, ...transmitter.delivered]).toEqual([])
  })

  test('binds that can receive take turns', async () => {
    const simulator = await simulated()
    const receivers = [
      await boundEsme(simulator),
      await boundEsme(simulator, { bind: RECEIVER }),
      await boundEsme(simulator),
    ]
    for (let count = 0; count < 6; count += 1) {
      await simulator.sendInbound({ from: '+15551230002', to: '12345', body: `${count}` })
    }
    expect(receivers.map((esme) => esme.delivered.length)).toEqual([2, 2, 2])
  })

  test('a full window is passed over', async () => {
    const simulator = await simulated({ deliverWindow: 1 })
    const silent = await boundEsme(simulator, { answer: () => null })
    const awake = await boundEsme(simulator)
    const sending = Array.from({ length: 5 }, (_, index) =>
      simulator.sendInbound({ from: '+15551230002', to: '12345', body: `${index}` }),
    )
    await until(() => simulator.stats.inbound === 4)
    expect(silent.delivered).toHaveLength(1)
    silent.link.destroy()
    await Promise.all(sending)
    expect(textsOf(awake)).toHaveLength(5)
  })
})

describe('kept', () => {
  test('while nobody is bound, then sent in order', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator, { bind: TRANSMITTER })
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1)
      ids.push((await submit(esme, submitTo('15551230000'))).messageId)
    await until(() => simulator.stats.kept === 3)
    await esme.link.unbind()
    const receiver = await boundEsme(simulator, { bind: RECEIVER })
    await until(() => simulator.stats.receipts === 3)
    expect(idsOf(receiver)).toEqual(ids)
    expect(simulator.stats).toMatchObject({ kept: 0, dropped: 0, resent: 0 })
  })

  test('no more than the limit: the oldest goes', async () => {
    const simulator = await simulated({ keepLimit: 2 })
    const esme = await boundEsme(simulator, { bind: TRANSMITTER })
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1)
      ids.push((await submit(esme, submitTo('15551230000'))).messageId)
    await until(() => simulator.stats.dropped === 3)
    expect(simulator.stats.kept).toBe(2)
    const receiver = await boundEsme(simulator, { bind: RECEIVER })
    await until(() => simulator.stats.receipts === 2)
    expect(idsOf(receiver)).toEqual(ids.slice(3))
  })
})

describe('sent again', () => {
  test('after ESME_RX_T_APPN', async () => {
    const simulator = await simulated()
    let refusals = 3
    const esme = await boundEsme(simulator, {
      answer: () => (refusals-- > 0 ? STATUSES.ESME_RX_T_APPN : STATUSES.ESME_ROK),
    })
    const { messageId } = await submit(esme, submitTo('15551230000'))
    await until(() => simulator.stats.receipts === 1)
    expect(idsOf(esme)).toEqual(Array.from({ length: 4 }, () => messageId))
    expect(simulator.stats).toMatchObject({ resent: 3, dropped: 0, kept: 0 })
  })

  test('but not for ever', async () => {
    const simulator = await simulated({ deliverAttempts: 4 })
    const esme = await boundEsme(simulator, { answer: () => STATUSES.ESME_RX_T_APPN })
    await expect(simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'hi' })).rejects.toThrow(
      'did not take',
    )
    expect(esme.delivered).toHaveLength(4)
    expect(simulator.stats).toMatchObject({ inbound: 0, resent: 3, dropped: 1 })
  })

  test.each([STATUSES.ESME_RX_P_APPN, STATUSES.ESME_RX_R_APPN])('never after status %d', async (status) => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator, { answer: () => status })
    await submit(esme, submitTo('15551230000'))
    await until(() => simulator.stats.dropped === 1)
    expect(esme.delivered).toHaveLength(1)
  })

  test('when the answer does not come in time', async () => {
    const simulator = await simulated({ deliverTimeoutMs: 1 })
    let silences = 1
    const esme = await boundEsme(simulator, { answer: () => (silences-- > 0 ? null : STATUSES.ESME_ROK) })
    await simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'hi' })
    expect(textsOf(esme)).toEqual(['hi', 'hi'])
  })

  test('when the connection breaks before the answer, before what waits behind it', async () => {
    const simulator = await simulated({ deliverWindow: 2 })
    const esme = await boundEsme(simulator, { answer: () => null })
    const sending = Array.from({ length: 4 }, (_, index) =>
      simulator.sendInbound({ from: '+15551230002', to: '12345', body: `${index}` }),
    )
    await until(() => esme.delivered.length === 2)
    esme.link.destroy()
    await until(() => simulator.stats.kept === 4)
    const next = await boundEsme(simulator)
    await Promise.all(sending)
    expect(textsOf(next)).toEqual(['0', '1', '2', '3'])
    expect(simulator.stats).toMatchObject({ inbound: 4, resent: 2, dropped: 0 })
  })

  test('given up when the simulator stops', async () => {
    const simulator = await simulated({ retryDelayMs: 60_000 })
    const esme = await boundEsme(simulator, { answer: () => STATUSES.ESME_RX_T_APPN })
    const waiting = simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'refused' })
    const refused = expect(waiting).rejects.toThrow('did not take')
    await until(() => esme.delivered.length === 1)
    await esme.link.unbind()
    const kept = expect(
      simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'kept' }),
    ).rejects.toThrow('did not take')
    await simulator.stop()
    await Promise.all([refused, kept])
    expect(simulator.stats).toMatchObject({ dropped: 2, kept: 0 })
  })
})
