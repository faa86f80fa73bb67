import { beforeEach, expect } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { BindPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import type { RawPeer } from '../smpp/raw-peer.ts'
import { eventually } from '../support/service.ts'
import type { Conduct } from '../support/smsc.ts'
import { freshLink, link, secondCarrier, shown, stage } from './stage.ts'

const WINDOW = 10

const own = stage({
  app: {
    linkTimings: {
      backoffMs: 2,
      enquireLinkIntervalMs: 300,
      enquireLinkTimeoutMs: 700,
      bindTimeoutMs: 400,
    },
  },
})
const { scenario } = own

const REFUSED_BIND = /the carrier refused the bind/

beforeEach(() => freshLink(own))

const closedBy = (reason: string) => eventually(async () => (await link(own)).lastClose?.startsWith(reason))

async function isQueued(msgId: string): Promise<boolean> {
  return (await own.service.get(msgId)).body.status === 'QUEUED'
}

/** Everything is SENT, each announced once. */
async function allSent(ids: readonly string[]): Promise<void> {
  for (const msgId of ids) {
    await own.service.until(msgId, 'SENT')
    await own.service.untilWebhooks(msgId, ['SENT'])
  }
}

/** Which of these were sent again although they may have come through. */
async function resubmitted(ids: readonly string[]): Promise<number> {
  let count = 0
  for (const msgId of ids) {
    const { attempts } = await shown(own, msgId)
    const again = attempts.filter((attempt: { resubmission: boolean }) => attempt.resubmission)
    if (attempts.length > 1) expect(again).toMatchObject([{ outcome: 'accepted' }])
    count += again.length
  }
  return count
}

const send = (count: number) => Promise.all(Array.from({ length: count }, () => own.service.sent()))

/** A window without an answer, and messages behind it; then the session ends this way. */
async function endsMidWindow(end: (peer: RawPeer) => Promise<void>): Promise<void> {
  const { smsc, service } = own
  const first = smsc.submits.length
  const peer = await smsc.bound()
  smsc.on('submit_sm', () => undefined)
  const ids = await send(WINDOW + 2)
  await eventually(() => smsc.submits.length === first + WINDOW)
  smsc.behave()
  await end(peer)
  await allSent(ids)
  expect(smsc.submits.length).toBe(first + 2 * WINDOW + 2)
  expect(await resubmitted(ids)).toBe(WINDOW)

  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'unknown' })
  const again = await smsc.bound()
  smsc.on('submit_sm', () => undefined)
  const once = await service.sent()
  await eventually(() => smsc.submits.length === first + 2 * WINDOW + 3)
  await end(again)
  smsc.behave()
  expect((await service.until(once, 'UNKNOWN')).errorCode).toBe('103')
  await service.untilWebhooks(once, ['UNKNOWN'])
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'resubmit' })
  await smsc.bound()
  expect(smsc.submits.length).toBe(first + 2 * WINDOW + 3)
}

scenario('B388', () =>
  endsMidWindow(async (peer) => {
    const answer = await own.smsc.request({ command: 'unbind' }, peer)
    expect([answer.command, answer.status]).toEqual(['unbind_resp', STATUSES.ESME_ROK])
    await peer.closed
    await closedBy('peer_unbound')
  }),
)

scenario('M46', () =>
  endsMidWindow(async (peer) => {
    peer.socket.resetAndDestroy()
    await eventually(async () => /^(socket_error|peer_closed)/.test((await link(own)).lastClose ?? ''))
  }),
)

scenario('B386', async () => {
  const { smsc } = own
  const peer = await smsc.bound()
  smsc.on('enquire_link', (pdu, to) => {
    if (to !== peer) smsc.answer(pdu, to)
  })
  const asked = () => smsc.heads(peer).filter(([command]) => command === 'enquire_link').length
  const before = asked()
  await peer.closed
  await closedBy('enquire_link_timeout')
  expect(asked()).toBe(before + 1)
  await smsc.bound()
})

scenario('M47', async () => {
  const { smsc } = own
  const peer = await smsc.bound()
  smsc.on('enquire_link', (pdu, to) => {
    if (to !== peer) smsc.answer(pdu, to)
  })
  smsc.on('submit_sm', (pdu, to) => {
    if (to !== peer) smsc.accept(pdu, to)
  })
  const ids = await send(3)
  await closedBy('enquire_link_timeout')
  await allSent(ids)
  expect(await resubmitted(ids)).toBe(3)
})

scenario('M48', async () => {
  const { smsc } = own
  const peer = await smsc.bound()
  const first = smsc.submits.length
  peer.socket.pause()
  const ids = await send(3 * WINDOW)
  await closedBy('enquire_link_timeout')
  await allSent(ids)
  expect(await resubmitted(ids)).toBe(WINDOW)
  expect(smsc.submits.length).toBe(first + 3 * WINDOW)
  // What it had not read is a window of submits, and no more.
  peer.socket.resume()
  await peer.closed
  await eventually(() => smsc.submits.length === first + 4 * WINDOW)
})

scenario('B390', async () => {
  const { smsc, service } = own
  const silent: RawPeer[] = []
  smsc.on('bind', (_pdu, peer) => silent.push(peer))
  ;(await smsc.bound()).socket.destroy()
  await eventually(() => silent.length === 2)
  await silent[0]!.closed
  await closedBy('bind_timeout')
  expect(smsc.heads(silent[0]!).map(([command]) => command)).toEqual(['bind_transceiver'])
  const msgId = await service.sent()
  await silent[1]!.closed
  expect(await isQueued(msgId)).toBe(true)
  smsc.behave()
  await allSent([msgId])
})

const HALF = encodePdu({ command: 'deliver_sm', short_message: Buffer.from('cut') }).subarray(0, 30)

/** What comes in place of a bind_resp, or right behind it. */
const MISHAPS: readonly Conduct<BindPdu>[] = [
  (_bind, peer) => peer.write(Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')),
  (_bind, peer) => peer.write(Buffer.from('15030100020246', 'hex')),
  (_bind, peer) => peer.write(Buffer.alloc(70_000)),
  (_bind, peer) => peer.write(Buffer.from('SSH-2.0-OpenSSH_9.6\r\n')),
  ({ sequence }, peer) => peer.write({ command: 'generic_nack', sequence, status: 3 }),
  (_bind, peer) => void peer.socket.end(),
  (_bind, peer) => void peer.socket.end(HALF),
  (bind, peer) => {
    own.smsc.answer(bind, peer)
    peer.socket.write(HALF, () => peer.socket.resetAndDestroy())
  },
  (bind, peer) => {
    own.smsc.answer(bind, peer)
    peer.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
  },
]

scenario(
  'M04',
  async () => {
    const { smsc, service } = own
    const binds = smsc.binds.length
    smsc.on('bind', (bind, peer, times) => {
      const mishap = MISHAPS[times] ?? ((pdu, to) => smsc.answer(pdu, to))
      mishap(bind, peer, times)
    })
    ;(await smsc.bound()).socket.destroy()
    await closedBy('frame_error')
    const msgId = await service.sent()
    await allSent([msgId])
    expect(smsc.binds.length).toBe(binds + MISHAPS.length + 1)
  },
  REFUSED_BIND,
)

scenario(
  'M49',
  async () => {
    const { smsc, service } = own
    const peer = await smsc.bound()
    const submits = smsc.submits.length
    let binds = smsc.binds.length
    const msgIds: string[] = []
    for (const name of ['ESME_RBINDFAIL', 'ESME_RINVPASWD', 'ESME_RALYBND', 'ESME_RTHROTTLED'] as const) {
      smsc.on('bind', (pdu, to) => to.respond(pdu, STATUSES[name]))
      peer.socket.destroy()
      await closedBy(`bind_rejected: ${name}`)
      await eventually(() => smsc.binds.length >= binds + 2)
      binds = smsc.binds.length
      msgIds.push(await service.sent())
    }
    for (const msgId of msgIds) expect(await isQueued(msgId)).toBe(true)
    expect(smsc.submits.length).toBe(submits)
    smsc.behave()
    await allSent(msgIds)
    expect(smsc.submits.length).toBe(submits + msgIds.length)
  },
  REFUSED_BIND,
)

scenario('M59', async () => {
  const { smsc } = own
  const binds = smsc.binds.length
  smsc.on('bind', (pdu, peer, times) => {
    smsc.answer(pdu, peer)
    if (times < 5) peer.write({ command: 'unbind', sequence: 1 })
  })
  await smsc.request({ command: 'unbind' })
  await allSent(await send(5))
  await eventually(() => smsc.binds.length === binds + 6)
})

scenario(
  'M61',
  async () => {
    const { smsc, service } = own
    await using second = await secondCarrier(own)
    const submits = smsc.submits.length
    smsc.on('bind', (pdu, peer) => peer.respond(pdu, STATUSES.ESME_RBINDFAIL))
    ;(await smsc.bound()).socket.destroy()
    await closedBy('bind_rejected')
    const msgId = await service.sent()
    await allSent([msgId])
    expect(await shown(own, msgId)).toMatchObject({
      carrier: 'second',
      routeReason: expect.stringContaining('after main (unbound)'),
    })
    expect([smsc.submits.length, second.smsc.submits.length]).toEqual([submits, 1])
    smsc.behave()
    await smsc.bound()
    const back = await service.sent()
    await allSent([back])
    expect(await shown(own, back)).toMatchObject({ carrier: 'main' })
  },
  REFUSED_BIND,
)
