import { expect } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually } from '../support/service.ts'
import { ESME_ROK } from '../support/smsc.ts'
import { becomesOverdue } from './overdue.ts'
import { overOneSession, secondCarrier, shown, stage } from './stage.ts'

/** 3 segments of the GSM alphabet. */
const THREE_PARTS = 'part '.repeat(80)

const own = stage()
const { scenario } = own

/** Ids of the three parts, named by the message's run. */
let run = 0
const idOf = (part: number) => `run${run}-${part}`

const partOf = (pdu: { short_message: Buffer }) => pdu.short_message[5]!

/** A message of three parts, each under an id of its own. */
async function threeParts(): Promise<string> {
  run += 1
  own.smsc.on('submit_sm', (pdu, peer) => own.smsc.accept(pdu, peer, idOf(partOf(pdu))))
  const msgId = await own.service.sent({ body: THREE_PARTS })
  await own.service.until(msgId, 'SENT')
  return msgId
}

async function told(part: number, state: string): Promise<void> {
  expect(await own.smsc.receipt(idOf(part), state)).toBe(ESME_ROK)
}

const statusOf = async (msgId: string) => (await own.service.get(msgId)).body.status

scenario('B371', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    run += 1
    const first = smsc.submits.length
    smsc.on('submit_sm', (pdu, peer) => {
      if (partOf(pdu) === 2) peer.respond(pdu, STATUSES.ESME_RINVDSTADR)
      else smsc.accept(pdu, peer, idOf(partOf(pdu)))
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    expect(await service.until(msgId, 'FAILED')).toMatchObject({ segments: 3, errorCode: '301' })
    const segments = async () =>
      (await shown(own, msgId)).submissions.map(({ segment }: { segment: number }) => segment).sort()
    expect(await segments()).toEqual([0, 2])
    expect((await shown(own, msgId)).attempts).toMatchObject([{ outcome: 'refused', segment: 1 }])
    await told(1, 'DELIVRD')
    await told(3, 'DELIVRD')
    await service.untilWebhooks(msgId, ['FAILED'])
    expect(await statusOf(msgId)).toBe('FAILED')
    expect(smsc.submits.length).toBe(first + 3)
  }),
)

scenario('B372', () =>
  overOneSession(own, async () => {
    for (const order of [
      [1, 2, 3],
      [1, 3, 2],
      [3, 2, 1],
    ]) {
      const msgId = await threeParts()
      for (const part of order) await told(part, part === 3 ? 'UNDELIV' : 'DELIVRD')
      await own.service.until(msgId, 'FAILED')
      await own.service.untilWebhooks(msgId, ['SENT', 'FAILED'])
    }
  }),
)

scenario('M32', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    smsc.on('submit_sm', (pdu, peer) => smsc.accept(pdu, peer, 'one-for-all'))
    const msgId = await service.sent({ body: THREE_PARTS })
    await service.until(msgId, 'SENT')
    expect((await shown(own, msgId)).submissions).toHaveLength(3)
    expect(await smsc.receipt('one-for-all', 'DELIVRD')).toBe(ESME_ROK)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(await smsc.receipt('one-for-all', 'DELIVRD')).toBe(ESME_ROK)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }),
)

scenario('M35', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    for (const order of [
      [2, 3],
      [3, 2],
    ]) {
      run += 1
      const accepted: (() => void)[] = []
      smsc.on('submit_sm', (pdu, peer) => accepted.push(() => smsc.accept(pdu, peer, idOf(partOf(pdu)))))
      const msgId = await service.sent({ body: THREE_PARTS })
      await eventually(() => accepted.length === 3)
      // The receipt of the first part comes before anything is accepted.
      await told(1, 'DELIVRD')
      for (const accept of accepted) accept()
      await service.until(msgId, 'SENT')
      for (const part of [...order, ...order]) await told(part, 'DELIVRD')
      await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    }
  }),
)

scenario('M36', () =>
  overOneSession(own, async () => {
    const msgId = await threeParts()
    for (let times = 0; times < 3; times += 1) {
      await told(1, 'DELIVRD')
      await told(3, 'DELIVRD')
    }
    expect(await statusOf(msgId)).toBe('SENT')
    await own.service.untilWebhooks(msgId, ['SENT'])
    await becomesOverdue(own.service, msgId)
    // What is known of the parts stays for the operator.
    const { submissions } = await shown(own, msgId)
    expect(submissions.map(({ outcome }: { outcome: string | null }) => outcome)).toEqual([
      'DELIVERED',
      null,
      'DELIVERED',
    ])
  }),
)

scenario(
  'M60',
  async () => {
    await diesBetween()
    await finishedElsewhere()
  },
  /the carrier refused the bind/,
)

/** The carrier is back at once: what it has of the message is not sent again. */
async function diesBetween(): Promise<void> {
  const { smsc, service } = own
  run += 1
  const first = smsc.submits.length
  smsc.on('submit_sm', (pdu, peer, times) => {
    if (times === 0) smsc.accept(pdu, peer, idOf(partOf(pdu)))
    if (times === 1) peer.socket.resetAndDestroy()
    if (times > 1 && !peer.socket.destroyed) smsc.accept(pdu, peer, idOf(partOf(pdu)))
  })
  const msgId = await service.sent({ body: THREE_PARTS })
  await service.until(msgId, 'SENT')
  const { attempts, submissions } = await shown(own, msgId)
  expect(attempts).toMatchObject([
    { outcome: 'no-answer', resubmission: false },
    { outcome: 'accepted', resubmission: true },
  ])
  expect(submissions).toHaveLength(3)
  const parts = smsc.submits.slice(first).map(partOf)
  expect(parts.filter((part) => part === 1)).toHaveLength(1)
  expect(new Set(parts)).toEqual(new Set([1, 2, 3]))
  for (const part of [1, 2, 3]) await told(part, 'DELIVRD')
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
}

/** It stays away: another carrier gets the rest, whose parts name the same reference. */
async function finishedElsewhere(): Promise<void> {
  const { smsc, service } = own
  await using second = await secondCarrier(own)
  smsc.on('bind', (pdu, peer) => peer.respond(pdu, STATUSES.ESME_RBINDFAIL))
  smsc.on('submit_sm', (pdu, peer, times) => {
    if (times === 0) smsc.accept(pdu, peer)
    else peer.socket.resetAndDestroy()
  })
  const msgId = await service.sent({ body: THREE_PARTS })
  await service.until(msgId, 'SENT')
  expect(second.smsc.submits.map(partOf)).toEqual([2, 3])
  const references = [...smsc.submits.slice(-1), ...second.smsc.submits].map((pdu) => pdu.short_message[3])
  expect(new Set(references).size).toBe(1)
  const { attempts, submissions } = await shown(own, msgId)
  expect(attempts.at(-1)).toMatchObject({ carrier: 'second', outcome: 'accepted', resubmission: true })
  expect(submissions.map(({ carrier }: { carrier: string }) => carrier)).toEqual(['main', 'second', 'second'])
  smsc.behave()
  await smsc.bound()
  expect(await smsc.receipt(submissions[0].carrierMessageId, 'DELIVRD')).toBe(ESME_ROK)
  for (const id of second.smsc.ids) expect(await second.smsc.receipt(id, 'DELIVRD')).toBe(ESME_ROK)
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
}
