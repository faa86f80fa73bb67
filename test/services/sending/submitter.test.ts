import { describe, expect, test } from 'vitest'
import { encodePdu } from '../../../src/smpp/encoding.ts'
import { eventually, type Service } from '../../support/service.ts'
import { accept, type Smsc } from '../../support/smsc.ts'
import { storeMessage } from '../../support/stored-messages.ts'
import { tenantPerTest } from '../../support/tenant-per-test.ts'

const TWO_PARTS = 'long '.repeat(50)

let smsc: Smsc
let service: Service

tenantPerTest({}, (...own) => {
  ;[service, smsc] = own
})

describe('what waits in the database', () => {
  test('is sent when it is due, in the order in which it became due', async () => {
    const plan = await service.planKey()
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'stopped' })
    // Until then what is due is taken, and requeued.
    await eventually(() => smsc.bindsNow === 0)
    const ids: string[] = []
    for (let age = 5; age > 0; age -= 1) {
      const created_ms = Date.now() - age * 1_000
      ids.push(
        await storeMessage(service.db, plan, {
          created_ms,
          body: `age ${age}`,
          callback_url: null,
        }),
      )
    }
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'started' })
    for (const msgId of ids) await service.until(msgId, 'SENT')
    const bodies = smsc.submits.map(({ short_message }) => short_message.toString())
    expect(bodies).toEqual(['age 5', 'age 4', 'age 3', 'age 2', 'age 1'])
  })

  test('messages that fit no PDU fail alone; those behind them are sent', async () => {
    const plan = await service.planKey()
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'stopped' })
    // Until then what is due is taken, and requeued.
    await eventually(() => smsc.bindsNow === 0)
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
    let age = 60_000
    const store = (changes: Parameters<typeof storeMessage>[2]) => {
      age -= 1_000
      const created_ms = Date.now() - age
      return storeMessage(service.db, plan, { callback_url: null, created_ms, ...changes })
    }
    const parts = { body: TWO_PARTS, segments: 2 }
    const sender = 'far longer than twenty characters'
    const good = [await store({})]
    const bad = [
      await store({ sender, ...parts }),
      await store({ sender }),
      await store({ sender, ...parts }),
    ]
    for (let count = 0; count < 3; count += 1) good.push(await store(parts))
    // With a window of one they queue up behind the first.
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'started', window: 1 })
    await eventually(() => answers.length === 1)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
    answers[0]!()
    for (const msgId of bad) expect((await service.until(msgId, 'FAILED')).errorCode).toBe('401')
    for (const msgId of good) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(7)
  })
})

describe('the window and the rate', () => {
  test('no more than the window is in flight, whatever waits', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { window: 3 })
    await eventually(() => smsc.binds.length === 2)
    const answers: (() => void)[] = []
    let most = 0
    smsc.answerSubmits((pdu, link, index) => {
      most = Math.max(
        most,
        answers.push(() => accept(pdu, link, `m-${index}`)),
      )
    })
    const ids = await Promise.all(Array.from({ length: 9 }, () => service.sent()))
    for (let round = 1; round <= 3; round += 1) {
      await eventually(() => smsc.submits.length >= 3 * round)
      for (const answer of answers.splice(0)) answer()
    }
    expect(most).toBe(3)
    for (const msgId of ids) await service.until(msgId, 'SENT')
  })

  test('the parts of one message are submitted in sequence, before those of the next', async () => {
    const bodies = ['a', 'b', 'c'].map((letter) => letter.repeat(500))
    await service.admin('PATCH', `/carriers/${service.carrier}`, { window: 2 })
    await eventually(() => smsc.binds.length === 2)
    for (const body of bodies) await service.sent({ body })
    await eventually(() => smsc.submits.length === 12)
    const parts = smsc.submits.map(
      ({ short_message }) => `${String.fromCharCode(short_message[6]!)}${short_message[5]}`,
    )
    expect(parts).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4', 'c1', 'c2', 'c3', 'c4'])
  })
})

describe('an answer that names no message', () => {
  test('without an id: SENT, and never matched', async () => {
    smsc.answerSubmits((pdu, link) => accept(pdu, link, ''))
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    const { rows } = await service.db.query('select 1 from submissions where msg_id = $1', [msgId])
    expect(rows).toEqual([])
  })

  test('generic_nack without a reason is no acceptance: tried three times', async () => {
    await useNackingCarrier()
    const msgId = await service.sent()
    for (const attempt of [1, 2]) {
      await eventually(async () => {
        const { rows } = await service.db.query('select failed_attempts from dispatches where msg_id = $1', [
          msgId,
        ])
        return rows[0]?.failed_attempts === attempt
      })
      await service.makeDue()
    }
    expect((await service.until(msgId, 'FAILED')).errorCode).toBe('200')
  })
})

/** The carrier answers each submit_sm with a generic_nack whose status is 0. */
async function useNackingCarrier(): Promise<void> {
  const { RawPeer } = await import('../../smpp/raw-peer.ts')
  const net = await import('node:net')
  const server = net.createServer(async (socket) => {
    const peer = new RawPeer(socket)
    const bind = await peer.next()
    peer.write({
      command: 'bind_transceiver_resp',
      sequence: 'sequence' in bind ? bind.sequence : 1,
      system_id: 'raw',
    })
    for (;;) {
      const pdu = await peer.next().catch(() => null)
      if (pdu === null) return
      if (pdu.command === 'submit_sm')
        peer.write(encodePdu({ command: 'generic_nack', sequence: pdu.sequence }))
      if (pdu.command === 'unbind') peer.write({ command: 'unbind_resp', sequence: pdu.sequence })
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as { port: number }
  await service.admin('PATCH', `/carriers/${service.carrier}`, { port })
  await eventually(
    async () => (await service.admin('GET', `/carriers/${service.carrier}`)).link?.state === 'BOUND_TRX',
  )
  server.unref()
}
