import { expect } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually } from '../support/service.ts'
import { overOneSession, shown, stage } from './stage.ts'

const own = stage()
const { scenario } = own

interface Attempt {
  readonly outcome: string
  readonly commandStatus: number | null
}

async function attempts(msgId: string): Promise<Attempt[]> {
  return (await shown(own, msgId)).attempts
}

/** How often the message was tried, once that is on record. */
const tried = (msgId: string, times: number) =>
  eventually(async () => (await attempts(msgId)).length === times)

/** What was postponed is due at once, until the message has this status. */
async function dueUntil(msgId: string, status: string): Promise<void> {
  await eventually(async () => {
    await own.service.makeDue()
    return (await own.service.get(msgId)).body.status === status
  })
}

/** Lets the third attempt of a message fail now: after that its recipient gets nothing for 2 min, however slow this machine is. */
async function leftAloneForMinutes(msgId: string): Promise<void> {
  const { db } = own.service
  const due = 'update dispatches set failed_attempts = 2, due_at = now() where msg_id = $1'
  await eventually(async () => (await db.query(due, [msgId])).rowCount === 1)
  const failed = 'select from dispatches where msg_id = $1 and failed_attempts = 3'
  await eventually(async () => (await db.query(failed, [msgId])).rowCount === 1)
}

scenario('M51', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const full = '+15551239999'
    const toFull = () => smsc.submits.filter((pdu) => `+${pdu.destination_addr}` === full).length
    let isFull = true
    smsc.on('submit_sm', (pdu, peer) => {
      if (isFull && `+${pdu.destination_addr}` === full) peer.respond(pdu, STATUSES.ESME_RMSGQFUL)
      else smsc.accept(pdu, peer)
    })
    const first = await service.sent({ to: full })
    await tried(first, 1)
    await leftAloneForMinutes(first)
    const before = toFull()
    const second = await service.sent({ to: full })
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, index) => service.sent({ to: `+155512310${10 + index}` })),
    )
    for (const msgId of others) {
      await service.until(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
    }
    expect(toFull()).toBe(before)
    expect((await service.get(second)).body.status).toBe('QUEUED')
    isFull = false
    for (const msgId of [first, second]) {
      await dueUntil(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
    }
    expect(toFull()).toBe(before + 2)
  }),
)

scenario('M52', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    for (const status of [STATUSES.ESME_RSYSERR, STATUSES.ESME_RX_T_APPN]) {
      smsc.on('submit_sm', (pdu, peer, times) => {
        if (times < 4) peer.respond(pdu, status)
        else smsc.accept(pdu, peer)
      })
      const msgId = await service.sent()
      await dueUntil(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
      const outcomes = (await attempts(msgId)).map(({ outcome, commandStatus }) => [outcome, commandStatus])
      expect(outcomes.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => ['retry', status]))
      expect(outcomes.slice(4).map(([outcome]) => outcome)).toEqual(['accepted'])
    }
    // Validity over before they end: FAILED.
    smsc.on('submit_sm', (pdu, peer) => peer.respond(pdu, STATUSES.ESME_RSYSERR))
    const msgId = await service.sent()
    await tried(msgId, 1)
    await service.db.query('update dispatches set expires_at = now() where msg_id = $1', [msgId])
    await dueUntil(msgId, 'FAILED')
    expect((await service.get(msgId)).body.errorCode).toBe('501')
    await service.untilWebhooks(msgId, ['FAILED'])
  }),
)

scenario('M53', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    for (const status of [STATUSES.ESME_RSUBMITFAIL, STATUSES.ESME_RUNKNOWNERR, 0x400]) {
      const submits = smsc.submits.length
      smsc.on('submit_sm', (pdu, peer) => peer.respond(pdu, status))
      const msgId = await service.sent()
      await dueUntil(msgId, 'FAILED')
      expect((await service.get(msgId)).body.errorCode).toBe('200')
      expect(smsc.submits.length).toBe(submits + 3)
      const made = await shown(own, msgId)
      expect(Number(made.carrierCode)).toBe(status)
      expect(made.attempts.map(({ outcome }: Attempt) => outcome)).toEqual(['retry', 'retry', 'refused'])
      await service.untilWebhooks(msgId, ['FAILED'])
    }
  }),
)

scenario('M54', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const permanent = [
      ['ESME_RINVDSTADR', '301'],
      ['ESME_RINVSRCADR', '400'],
      ['ESME_RINVMSGLEN', '401'],
      ['ESME_RINVSERTYP', '203'],
    ] as const
    for (const [name, errorCode] of permanent) {
      const submits = smsc.submits.length
      smsc.on('submit_sm', (pdu, peer) => peer.respond(pdu, STATUSES[name]))
      const msgId = await service.sent()
      expect((await service.until(msgId, 'FAILED')).errorCode).toBe(errorCode)
      await service.untilWebhooks(msgId, ['FAILED'])
      expect(Number((await shown(own, msgId)).carrierCode)).toBe(STATUSES[name])
      expect(smsc.submits.length).toBe(submits + 1)
    }
    await service.admin('PATCH', '/carriers/main', { submitOutcomes: { '0x0b': 'retry' } })
    smsc.on('submit_sm', (pdu, peer, times) => {
      if (times < 2) peer.respond(pdu, STATUSES.ESME_RINVDSTADR)
      else smsc.accept(pdu, peer)
    })
    const msgId = await service.sent()
    await dueUntil(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
    expect((await attempts(msgId)).map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'accepted'])
    await service.admin('PATCH', '/carriers/main', { submitOutcomes: {} })
  }),
)

scenario('M55', async () => {
  const { smsc, service } = own
  const [binds, submits] = [smsc.binds.length, smsc.submits.length]
  smsc.on('submit_sm', (pdu, peer, times) => {
    if (times === 0) peer.respond(pdu, STATUSES.ESME_RINVBNDSTS)
    else smsc.accept(pdu, peer)
  })
  const msgId = await service.sent()
  await service.until(msgId, 'SENT')
  await service.untilWebhooks(msgId, ['SENT'])
  expect([smsc.binds.length, smsc.submits.length]).toEqual([binds + 1, submits + 2])
  expect((await attempts(msgId)).map(({ outcome }) => outcome)).toEqual(['accepted'])
})

/** The last: at whatever rate, half of it is refused, so that the rate ends at its lowest. */
scenario('M50', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    let throttled = 0
    smsc.on('submit_sm', (pdu, peer, times) => {
      if (times % 2 === 0) smsc.accept(pdu, peer)
      else {
        throttled += 1
        peer.respond(pdu, STATUSES.ESME_RTHROTTLED)
      }
    })
    const ids = await Promise.all(Array.from({ length: 8 }, () => service.sent()))
    for (const msgId of ids) {
      await service.until(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
      expect((await attempts(msgId)).map(({ outcome }) => outcome)).toEqual(['accepted'])
    }
    expect(throttled).toBeGreaterThanOrEqual(7)
  }),
)
