import { expect } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import type { RawPeer } from '../smpp/raw-peer.ts'
import { eventually } from '../support/service.ts'
import { ESME_ROK, receiptOf } from '../support/smsc.ts'
import { frame } from './octets.ts'
import { anomalies, overOneSession, stage, submitted } from './stage.ts'

const own = stage()
const { scenario } = own

/** Writes these octets and waits for `count` answers, as `[command, status, sequence]`. */
async function answersTo(octets: readonly Buffer[], count: number): Promise<[string, number, number][]> {
  const { smsc } = own
  const peer = await smsc.bound()
  const before = smsc.heads(peer).length
  peer.write(...octets)
  await eventually(() => smsc.heads(peer).length >= before + count)
  return smsc.heads(peer).slice(before)
}

const REFUSED = /refused a PDU of the carrier/

const numbered = (sequence: number, id = 'nobody') =>
  encodePdu({ command: 'deliver_sm', sequence, ...receiptOf(id, 'DELIVRD') })

scenario(
  'B338',
  () =>
    overOneSession(own, async () => {
      const counted = await anomalies(own, 'unknown_command')
      const ids = [0x110, 0x00, 0x0a, 0x111, 0x10200, 0x7fffffff]
      const octets = ids.map((id) => frame(id, Buffer.from('whatever'), { sequence: id }))
      expect(await answersTo(octets, ids.length)).toEqual(
        ids.map((id) => ['generic_nack', STATUSES.ESME_RINVCMDID, id]),
      )
      expect(await anomalies(own, 'unknown_command')).toBe(counted + ids.length)
    }),
  REFUSED,
)

scenario('M05', () =>
  overOneSession(own, async () => {
    const counted = await anomalies(own, 'unknown_command')
    const octets = [0x80000110, 0x8000000a, 0xffffffff].map((id) => frame(id, undefined, { sequence: 3 }))
    const last = encodePdu({ command: 'enquire_link', sequence: 4 })
    expect(await answersTo([...octets, last], 1)).toEqual([['enquire_link_resp', ESME_ROK, 4]])
    expect(await anomalies(own, 'unknown_command')).toBe(counted + 3)
  }),
)

scenario('B340', () =>
  overOneSession(own, async () => {
    const sequences = [0, 0x80000000, 0xffffffff, 7, 7, 0]
    const answers = await answersTo(
      sequences.map((sequence) => numbered(sequence)),
      6,
    )
    expect(answers).toEqual(sequences.map((sequence) => ['deliver_sm_resp', ESME_ROK, sequence]))
    expect(await answersTo([encodePdu({ command: 'enquire_link', sequence: 0x80000000 })], 1)).toEqual([
      ['enquire_link_resp', ESME_ROK, 0x80000000],
    ])
  }),
)

scenario('M57', () =>
  overOneSession(own, async () => {
    const messages = []
    for (let count = 0; count < 6; count += 1) messages.push(await submitted(own))
    const sequences = [900, 800, 800, 700, 700, 600]
    const answers = await answersTo(
      messages.map(({ id }, index) => numbered(sequences[index]!, id)),
      6,
    )
    // Each is answered once it is recorded: not all of them together.
    const inOrder = answers.toSorted(([, , one], [, , other]) => other - one)
    expect(inOrder).toEqual(sequences.map((sequence) => ['deliver_sm_resp', ESME_ROK, sequence]))
    for (const { msgId } of messages) await own.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }),
)

scenario(
  'M56',
  () =>
    overOneSession(own, async () => {
      const outbinds = await anomalies(own, 'outbind')
      const unexpected = await anomalies(own, 'unexpected_command')
      const requests = ['submit_sm', 'query_sm', 'cancel_sm', 'replace_sm', 'bind_transceiver'] as const
      const octets = [
        encodePdu({ command: 'outbind', sequence: 1, system_id: 'hostile', password: 'x' }),
        ...requests.map((command, index) => encodePdu({ command, sequence: index + 2 })),
        encodePdu({ command: 'alert_notification', sequence: 90 }),
      ]
      expect(await answersTo(octets, requests.length)).toEqual(
        requests.map((command, index) => [`${command}_resp`, STATUSES.ESME_RINVBNDSTS, index + 2]),
      )
      expect(await anomalies(own, 'outbind')).toBe(outbinds + 1)
      expect(await anomalies(own, 'unexpected_command')).toBe(unexpected + requests.length)
      expect(
        own.service.logs.filter((line) => line.includes('ESME_RINVBNDSTS')).map((line) => JSON.parse(line)),
      ).toMatchObject(
        requests.map((command) => ({ level: 40, carrier: 'main', command, status: 'ESME_RINVBNDSTS' })),
      )
    }),
  REFUSED,
)

const FLOOD = 1_000
const ROUNDS = 5

function enquiries(peer: RawPeer, from: number): void {
  peer.write(
    ...Array.from({ length: FLOOD }, (_, index) => frame(0x15, undefined, { sequence: from + index })),
  )
}

scenario('B387', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const peer = await smsc.bound()
    const before = smsc.heads(peer).length
    // Each answer to a submit comes behind another thousand enquiries.
    let floods = 0
    smsc.on('submit_sm', (pdu, to, times) => {
      if (times % 20 === 0 && floods < ROUNDS) {
        enquiries(to, 10_000 + floods * FLOOD)
        floods += 1
      }
      smsc.accept(pdu, to)
    })
    const ids = await Promise.all(Array.from({ length: 20 * ROUNDS }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'SENT')
    const answers = () =>
      smsc
        .heads(peer)
        .flatMap(([command, , sequence], index) =>
          index >= before && command === 'enquire_link_resp' ? [sequence] : [],
        )
    await eventually(() => answers().length === ROUNDS * FLOOD)
    expect(answers()).toEqual(Array.from({ length: ROUNDS * FLOOD }, (_, index) => 10_000 + index))
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
  }),
)
