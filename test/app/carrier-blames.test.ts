/** Carriers that blame the session for a message, or answer nothing at all. */
import { beforeEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, RECIPIENT, type Service } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

const BAD = '+15551239999'
const WINDOW = 4

let smsc: Smsc
let service: Service

/** How long an answer is waited for. What comes later would count as none, and a message could end UNKNOWN. */
function carrierAnswersWithin(responseTimeoutMs: number) {
  const app = { ambiguityWaitMs: 300, linkTimings: { responseTimeoutMs } }
  tenantPerTest({ webhooks: false, carrier: { window: WINDOW }, app }, (...own) => {
    ;[service, smsc] = own
  })
}

async function attempts(msgId: string) {
  await service.recorded(msgId)
  const { rows } = await service.db.query<{ outcome: string; resubmission: boolean; carrier: string }>(
    `select a.outcome, a.resubmission, c.name as carrier
     from submit_attempts a join carriers c on c.id = a.carrier_id where a.msg_id = $1 order by a.attempted_at`,
    [msgId],
  )
  return rows
}

/** Every retry comes at once. */
const untilFailed = (msgId: string) =>
  eventually(async () => {
    await service.makeDue()
    const { body } = await service.get(msgId)
    return body.status === 'FAILED' && body
  })

describe('a message that is always answered with a bind status', () => {
  carrierAnswersWithin(60_000)

  beforeEach(() => {
    smsc.answerSubmits((pdu, link, index) => {
      if (`+${pdu.destination_addr}` === BAD) link.respond(pdu, STATUSES.ESME_RINVBNDSTS)
      else accept(pdu, link, `m-${index}`)
    })
  })

  test('alone: three binds, then three tries', async () => {
    const msgId = await service.sent({ to: BAD })
    expect(await untilFailed(msgId)).toMatchObject({ errorCode: '102' })
    expect([smsc.binds.length, smsc.submits.length]).toEqual([4, 6])
    expect((await attempts(msgId)).map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'refused'])
  })

  test('of several segments: likewise', async () => {
    const msgId = await service.sent({ to: BAD, body: 'long '.repeat(100) })
    expect(await untilFailed(msgId)).toMatchObject({ errorCode: '102' })
    expect(smsc.binds).toHaveLength(4)
    expect(await attempts(msgId)).toHaveLength(3)
  })

  test('many of them among others: those are sent, over few binds', async () => {
    const bad = await Promise.all(Array.from({ length: 5 }, () => service.sent({ to: BAD })))
    const good = await Promise.all(Array.from({ length: 40 }, () => service.sent()))
    for (const msgId of good) await service.until(msgId, 'SENT')
    for (const msgId of bad) expect(await untilFailed(msgId)).toMatchObject({ errorCode: '102' })
    // Three each at most; fewer, since what is sent between them shows that the session is in order.
    expect(smsc.binds.length).toBeLessThan(1 + 3 * bad.length)
    expect(smsc.submits.filter((pdu) => `+${pdu.destination_addr}` === RECIPIENT)).toHaveLength(40)
  })
})

describe('a carrier that answers no submit', () => {
  carrierAnswersWithin(300)

  test('the other of the route takes over, until it answers', async () => {
    await using other = await startSmsc()
    const carrier = await service.anotherCarrier(other.port)
    const carriers = [{ carrier: service.carrier }, { carrier, priority: 1 }]
    await service.admin('PATCH', `/routes/${service.route}`, { carriers })
    smsc.answerSubmits(() => undefined)
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(other.submits).toHaveLength(20)
    const { lastError } = (await service.admin('GET', `/carriers/${service.carrier}`)).link
    expect(lastError).toBe('submits_unanswered')
    // Whatever reached the silent one is flagged; the others never did.
    const silent = smsc.submits.length
    const made = await Promise.all(ids.map(attempts))
    const unanswered = made.map((list) => list.filter((one) => one.carrier === service.carrier))
    expect(unanswered.flat().map(({ outcome }) => outcome)).toEqual(Array(silent).fill('no-answer'))
    expect(silent).toBeGreaterThanOrEqual(WINDOW)
    // On a busy machine the other may answer late, too: what reached only that one says nothing, and what reached both is flagged.
    for (const list of made.filter((_, index) => unanswered[index]!.length > 0))
      expect(list.at(-1)).toMatchObject({ resubmission: true, carrier })

    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `back-${index}`))
    await eventually(async () => {
      const before = smsc.submits.length
      await service.until(await service.sent(), 'SENT')
      return smsc.submits.length > before
    })
  })
})
