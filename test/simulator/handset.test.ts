import { afterEach, describe, expect, test } from 'vitest'
import { listen } from '../../src/smpp/listener.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { injectInbound } from '../support/handset.ts'
import { boundEsme, cleanUp, later, receivedText, simulated, until } from './simulator-harness.ts'

afterEach(cleanUp)

const LONG = `${'A long message € with [brackets] '.repeat(12)}end`
const LONG_UCS2 = `${'Eine lange Nachricht 😀 '.repeat(10)}Ende`
const MESSAGE = { from: '+15551230002', to: '12345' }
const FORMS = ['udh8', 'udh16', 'sar', 'payload'] as const

describe('a handset', () => {
  test.each(FORMS.flatMap((form) => ['hi', LONG, LONG_UCS2].map((body) => ({ form, body }))))(
    '$form: $body',
    async ({ form, body }) => {
      const simulator = await simulated()
      const esme = await boundEsme(simulator)
      await injectInbound({ host: '127.0.0.1', port: simulator.port, ...MESSAGE, body, form })
      await until(() => simulator.stats.inbound > 0 && simulator.stats.inbound === esme.delivered.length)
      await until(() => receivedText(esme) === body)
      expect(esme.delivered[0]).toMatchObject({ source_addr: '15551230002', destination_addr: '12345' })
      expect(simulator.binds.map(({ systemId }) => systemId)).toEqual(['esme'])
      expect(simulator.stats).toMatchObject({ submits: 0, accepted: 0 })
    },
  )

  test('keeps header, protocol id and optional parameters, gets no receipts', async () => {
    const simulator = await simulated({ handsetSystemId: 'phone' })
    const esme = await boundEsme(simulator)
    const phone = await boundEsme(simulator, { bind: { system_id: 'phone' } })
    const { status } = await phone.link.request({
      command: 'submit_sm',
      source_addr_ton: 2,
      source_addr: '0170123',
      destination_addr: '15551231006',
      esm_class: 0x43,
      protocol_id: 0x41,
      data_coding: 4,
      registered_delivery: 1,
      short_message: Buffer.from([6, 5, 4, 0x0b, 0x84, 0x23, 0xf0, 1, 2, 3]),
      tlvs: { destination_port: 2948, user_message_reference: 7 },
    })
    expect(status).toBe(STATUSES.ESME_ROK)
    await until(() => simulator.stats.inbound === 1)
    expect(esme.delivered).toMatchObject([
      {
        source_addr_ton: 2,
        source_addr: '0170123',
        destination_addr: '15551231006',
        esm_class: 0x40,
        protocol_id: 0x41,
        data_coding: 4,
        registered_delivery: 0,
        short_message: Buffer.from([6, 5, 4, 0x0b, 0x84, 0x23, 0xf0, 1, 2, 3]),
        tlvs: { destination_port: 2948, user_message_reference: 7 },
      },
    ])
    expect(phone.delivered).toEqual([])
  })

  test('may submit what fits no deliver_sm: it is refused', async () => {
    const simulator = await simulated()
    await boundEsme(simulator)
    const phone = await boundEsme(simulator, { bind: { system_id: 'handset' } })
    const pdu = { command: 'data_sm', source_addr: '1'.repeat(40), destination_addr: '12345' } as const
    expect((await phone.link.request(pdu)).status).toBe(STATUSES.ESME_RINVDSTADR)
  })

  test('is told when no ESME can receive', async () => {
    const simulator = await simulated()
    const injection = { host: '127.0.0.1', port: simulator.port, ...MESSAGE, body: 'hi' }
    await expect(injectInbound(injection)).rejects.toThrow(
      'No ESME that can receive is bound to the simulator',
    )
    await boundEsme(simulator, { bind: { command: 'bind_transmitter' } })
    await expect(injectInbound(injection)).rejects.toThrow(
      'No ESME that can receive is bound to the simulator',
    )
    expect(simulator.stats.kept).toBe(0)
  })

  test('is told when there is no simulator', async () => {
    const simulator = await simulated()
    await simulator.stop()
    const injection = { host: '127.0.0.1', port: simulator.port, ...MESSAGE, body: 'hi' }
    await expect(injectInbound(injection)).rejects.toThrow(
      `No simulator can be reached at 127.0.0.1:${simulator.port}: ECONNREFUSED`,
    )
  })

  test('is told when the SMSC knows no handsets, refuses the message or says nothing', async () => {
    const answers: (number | null)[] = [STATUSES.ESME_RINVSYSID, STATUSES.ESME_ROK, null]
    const server = await listen({ port: 0, tickMs: 5 }, () => {
      const status = answers.shift()
      return {
        onBind: (pdu, link) => status != null && link.respond(pdu, status),
        onRequest: (pdu, link) => link.respond(pdu, STATUSES.ESME_RSUBMITFAIL),
      }
    })
    later(() => server.close())
    const injection = { host: '127.0.0.1', port: server.port, ...MESSAGE, body: 'hi' }
    await expect(injectInbound(injection)).rejects.toThrow(
      `The SMSC at 127.0.0.1:${server.port} takes no handset: ESME_RINVSYSID`,
    )
    await expect(injectInbound(injection)).rejects.toThrow(
      'The simulator refused the message: ESME_RSUBMITFAIL',
    )
    await expect(injectInbound({ ...injection, timeoutMs: 300 })).rejects.toThrow(
      /did not answer: bind_timeout$/,
    )
  })
})
