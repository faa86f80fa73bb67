import { beforeEach, expect } from 'vitest'
import { UDHI } from '../../src/domain/text/concatenation.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import type { RawPeer } from '../smpp/raw-peer.ts'
import { eventually, INBOUND_NUMBER } from '../support/service.ts'
import { ESME_ROK, receiptOf } from '../support/smsc.ts'
import { frame } from './octets.ts'
import { anomalies, freshLink, link, overOneSession, stage, submitted, untilBodies } from './stage.ts'

const own = stage({ app: { linkTimings: { backoffMs: 2, pduReadTimeoutMs: 200 } } })
const { scenario } = own

beforeEach(() => freshLink(own))

const DELIVER_SM = 5

/** Octets that cannot be framed: one generic_nack, closed, bound anew, and a submit under way is not lost. */
async function breaks(octets: Buffer): Promise<void> {
  const { smsc, service } = own
  const counted = await anomalies(own, 'frame_error')
  const peer = await smsc.bound()
  const binds = smsc.binds.length
  smsc.on('submit_sm', () => peer.write(octets))
  const msgId = await service.sent()
  await peer.closed
  smsc.behave()
  expect(smsc.heads(peer).filter(([command]) => command === 'generic_nack')).toEqual([
    ['generic_nack', STATUSES.ESME_RINVCMDLEN, 77],
  ])
  await smsc.bound()
  expect(smsc.binds.length).toBe(binds + 1)
  expect((await link(own)).lastClose).toBe('frame_error')
  expect(await anomalies(own, 'frame_error')).toBe(counted + 1)
  await service.until(msgId, 'SENT')
  await service.untilWebhooks(msgId, ['SENT'])
}

const lying = (length: number, body?: Buffer) => frame(DELIVER_SM, body, { length, sequence: 77 })

scenario('B330', () => breaks(lying(0)))

scenario('M01', async () => {
  for (const length of [1, 4, 15]) await breaks(lying(length))
})

scenario('B333', async () => {
  await breaks(lying(65_536 + 17))
  await breaks(lying(0x100000, Buffer.alloc(100_000)))
})

scenario('M02', async () => {
  const before = process.memoryUsage().arrayBuffers
  await breaks(lying(0xffffffff))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
})

/** A PDU that never ends: closed by its timer, bound anew. */
async function stalls(write: (peer: RawPeer) => void): Promise<void> {
  const peer = await own.smsc.bound()
  const binds = own.smsc.binds.length
  write(peer)
  await peer.closed
  await own.smsc.bound()
  expect((await link(own)).lastClose).toBe('pdu_read_timeout')
  expect(own.smsc.binds.length).toBe(binds + 1)
}

scenario('B335', () => stalls((peer) => peer.write(lying(100))))

scenario('M03', async () => {
  await stalls((peer) => {
    for (const octet of lying(100).subarray(0, 7)) peer.write(Buffer.of(octet))
  })
  await stalls((peer) => {
    peer.write({ command: 'enquire_link', sequence: 3 }, lying(100).subarray(0, 16))
    peer.write(Buffer.alloc(20))
  })
})

scenario('B336', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const peer = await smsc.bound()
    const { msgId, id } = await submitted(own)
    await peer.writeOctets(encodePdu({ command: 'deliver_sm', sequence: 5, ...receiptOf(id, 'DELIVRD') }))
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const short_message = Buffer.from('\x05\x00\x03\x07\x01\x01slowly')
    const addresses = { source_addr: '15550000001', destination_addr: INBOUND_NUMBER.slice(1) }
    await peer.writeOctets(
      encodePdu({ command: 'deliver_sm', sequence: 6, esm_class: UDHI, ...addresses, short_message }),
    )
    await untilBodies(own, '+15550000001', ['slowly'])
    expect(smsc.heads(peer).slice(-2)).toEqual([
      ['deliver_sm_resp', ESME_ROK, 5],
      ['deliver_sm_resp', ESME_ROK, 6],
    ])
  }),
)

scenario('B337', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const peer = await smsc.bound()
    const messages = await Promise.all(Array.from({ length: 10 }, () => submitted(own)))
    const ids = smsc.ids.slice(-10)
    const receipts = Array.from({ length: 1_000 }, (_, index) =>
      encodePdu({
        command: 'deliver_sm',
        sequence: 5_000 + index,
        ...receiptOf(ids[index % ids.length]!, 'DELIVRD'),
      }),
    )
    peer.write(Buffer.concat(receipts))
    const answers = () => smsc.heads(peer).filter(([, , sequence]) => sequence >= 5_000 && sequence < 6_000)
    await eventually(() => answers().length === 1_000)
    expect(answers()).toEqual(receipts.map((_, index) => ['deliver_sm_resp', ESME_ROK, 5_000 + index]))
    for (const { msgId } of messages) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }),
)
