import { afterEach, describe, expect, test } from 'vitest'
import { boundEsme, cleanUp, receivedText, simulated } from './simulator-harness.ts'

afterEach(cleanUp)

const LONG = `${'A long message € with [brackets] '.repeat(12)}end`
const LONG_UCS2 = `${'Eine lange Nachricht 😀 '.repeat(10)}Ende`
const MESSAGE = { from: '+15551230002', to: '12345' }
const FORMS = ['udh8', 'udh16', 'sar', 'payload'] as const

describe('sendInbound', () => {
  test('is a deliver_sm of esm_class 0', async () => {
    const simulator = await simulated()
    const esme = await boundEsme(simulator)
    await simulator.sendInbound({ ...MESSAGE, body: 'Hello [you]' })
    expect(esme.delivered).toMatchObject([
      {
        esm_class: 0,
        data_coding: 0,
        source_addr_ton: 1,
        source_addr: '15551230002',
        dest_addr_ton: 3,
        destination_addr: '12345',
        short_message: Buffer.from('Hello \x1b<you\x1b>', 'latin1'),
      },
    ])
  })

  test.each(FORMS.flatMap((form) => [LONG, LONG_UCS2].map((body) => ({ form, body }))))(
    'long, $form: $body',
    async ({ form, body }) => {
      const simulator = await simulated()
      const esme = await boundEsme(simulator)
      await simulator.sendInbound({ ...MESSAGE, body, form })
      expect(receivedText(esme)).toBe(body)
      expect(esme.delivered.length > 1).toBe(form !== 'payload')
      expect(simulator.stats.inbound).toBe(esme.delivered.length)
    },
  )

  test('to a system_id of its own, kept until it binds', async () => {
    const simulator = await simulated()
    const other = await boundEsme(simulator)
    const sent = simulator.sendInbound({ ...MESSAGE, body: 'hi', systemId: 'later' })
    const esme = await boundEsme(simulator, { bind: { system_id: 'later' } })
    await sent
    expect(receivedText(esme)).toBe('hi')
    expect(other.delivered).toEqual([])
  })

  test('without one, to who can receive', async () => {
    const simulator = await simulated()
    await boundEsme(simulator, { bind: { system_id: 'tx', command: 'bind_transmitter' } })
    const esme = await boundEsme(simulator, { bind: { system_id: 'trx' } })
    await simulator.sendInbound({ ...MESSAGE, body: 'hi' })
    expect(receivedText(esme)).toBe('hi')
  })

  test('fails when nobody ever bound, and for fields that do not fit', async () => {
    const simulator = await simulated()
    await expect(simulator.sendInbound({ ...MESSAGE, body: 'hi' })).rejects.toThrow('No ESME has bound yet')
    await boundEsme(simulator)
    const long = { ...MESSAGE, from: 'a name of many letters', body: 'hi' }
    await expect(simulator.sendInbound(long)).rejects.toThrow(RangeError)
    await expect(simulator.sendInbound({ ...MESSAGE, body: 'x'.repeat(40_000) })).rejects.toThrow(RangeError)
  })
})
