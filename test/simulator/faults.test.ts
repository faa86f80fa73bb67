import { afterEach, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { boundEsme, cleanUp, esmeTo, simulated, submit, submitTo, until } from './simulator-harness.ts'

afterEach(cleanUp)

test('refused binds', async () => {
  const simulator = await simulated()
  simulator.faults.refuseBindsWith = STATUSES.ESME_RSYSERR
  const refused = esmeTo(simulator)
  expect(await refused.ended).toEqual({ code: 'bind_rejected', status: STATUSES.ESME_RSYSERR })
  simulator.faults.clear()
  await boundEsme(simulator)
})

test('binds without an answer', async () => {
  const simulator = await simulated()
  simulator.faults.ignoreBinds = true
  const esme = esmeTo(simulator, { bindTimeoutMs: 10 })
  expect((await esme.ended).code).toBe('bind_timeout')
  expect(simulator.stats.binds).toBe(0)
})

test('a connection dropped after some submits, the last one without an answer', async () => {
  const simulator = await simulated({ recordSubmissions: true })
  const esme = await boundEsme(simulator)
  simulator.faults.dropAfterSubmits = 3
  await submit(esme, submitTo('15551230001'))
  await submit(esme, submitTo('15551230002'))
  await expect(submit(esme, submitTo('15551230003'))).rejects.toMatchObject({ code: 'closed' })
  expect(simulator.submissions).toHaveLength(3)
  expect(simulator.faults.dropAfterSubmits).toBeNull()
  const next = await boundEsme(simulator)
  const { messageId } = await submit(next, submitTo('15551230004'))
  const lastId = () => next.delivered.map((pdu) => pdu.tlvs.receipted_message_id)
  await until(() => lastId().includes(messageId))
  expect(lastId()).toContain(simulator.submissions[2]!.messageId)
})

test('submits without an answer, but with a receipt', async () => {
  const simulator = await simulated({ recordSubmissions: true })
  simulator.faults.swallowSubmitResponses = true
  const esme = await boundEsme(simulator, { responseTimeoutMs: 20 })
  await expect(submit(esme, submitTo('15551230001'))).rejects.toMatchObject({ code: 'timeout' })
  await until(() => esme.delivered.length === 1)
  expect(esme.delivered[0]!.tlvs.receipted_message_id).toBe(simulator.submissions[0]!.messageId)
  simulator.faults.swallowSubmitResponses = false
  const next = await boundEsme(simulator)
  expect((await submit(next, submitTo('15551230001'))).status).toBe(STATUSES.ESME_ROK)
})

test('receipts held, those before their response too', async () => {
  const simulator = await simulated()
  const esme = await boundEsme(simulator)
  simulator.faults.holdReceipts = true
  await submit(esme, submitTo('15551230000'))
  await submit(esme, submitTo('15551231008'))
  // MO messages pass.
  await simulator.sendInbound({ from: '+15551230002', to: '12345', body: 'hi' })
  expect(simulator.stats).toMatchObject({ scheduled: 2, receipts: 0, inbound: 1 })
  simulator.faults.holdReceipts = false
  await until(() => simulator.stats.receipts === 2)
  expect(simulator.stats.scheduled).toBe(0)
})

test('the next submits answered with a status', async () => {
  const simulator = await simulated()
  const esme = await boundEsme(simulator)
  simulator.faults.answerNextSubmits(STATUSES.ESME_RMSGQFUL, 2)
  const statuses: number[] = []
  for (let count = 0; count < 3; count += 1) {
    statuses.push((await submit(esme, submitTo('15551230000'))).status)
  }
  expect(statuses).toEqual([STATUSES.ESME_RMSGQFUL, STATUSES.ESME_RMSGQFUL, STATUSES.ESME_ROK])
})

test('nothing read: enquire_link is unanswered, submits are taken late', async () => {
  const simulator = await simulated({ inboundLimit: 2 })
  const esme = await boundEsme(simulator, { enquireLinkIntervalMs: 20, enquireLinkTimeoutMs: 20 })
  simulator.faults.stopReading = true
  const submits = Array.from({ length: 10 }, () => submit(esme, submitTo('15551230000')))
  const outcomes = Promise.allSettled(submits)
  expect((await esme.ended).code).toBe('enquire_link_timeout')
  expect((await outcomes).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'))
  // What had reached its socket is taken all the same: the ESME could not know.
  simulator.faults.stopReading = false
  const next = await boundEsme(simulator)
  await until(() => next.delivered.length === 10)
  expect(simulator.stats).toMatchObject({ submits: 10, accepted: 10, dropped: 0 })
})

test('reading resumed: everything that waited is answered', async () => {
  const simulator = await simulated({ inboundLimit: 2 })
  const esme = await boundEsme(simulator)
  simulator.faults.stopReading = true
  const submits = Array.from({ length: 50 }, () => submit(esme, submitTo('15551230000')))
  const late = esmeTo(simulator)
  await until(() => late.link.state === 'OPEN')
  simulator.faults.stopReading = false
  const answers = await Promise.all(submits)
  expect(answers.every(({ status }) => status === STATUSES.ESME_ROK)).toBe(true)
  await late.link.whenBound()
})
