/** What a crash may repeat. */
import { expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

let smsc: Smsc
let service: Service

tenantPerTest({}, (...own) => {
  ;[service, smsc] = own
})

/** Runs `work` while nothing is committed to the journal. */
async function whileJournalWaits(work: () => Promise<unknown>): Promise<void> {
  await withTransaction(service.db, async (transaction) => {
    await transaction.query('lock table journal in share mode')
    await work()
  })
}

test('a window has no room for what follows before its outcomes are in the journal', async () => {
  const { admin } = service
  await admin('PATCH', `/carriers/${service.carrier}`, { window: 3 })
  await eventually(() => smsc.binds.length === 2)
  const answers: (() => void)[] = []
  smsc.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `m-${index}`)))
  const answered = async () => {
    for (const answer of answers.splice(0)) answer()
    const carrier = await admin('GET', `/carriers/${service.carrier}`)
    return carrier.link?.unanswered === 0
  }
  const held = async () => {
    const metrics = await (await fetch(`${service.app.url}/metrics`)).text()
    return Number(/^aldis_messages_held (\d+)$/m.exec(metrics)![1])
  }
  await eventually(async () => (await held()) === 0)
  const ids: string[] = []
  for (let count = 0; count < 6; count += 1) ids.push(await service.sent())
  await eventually(() => answers.length === 3)
  const accepted: Promise<string>[] = []
  await whileJournalWaits(async () => {
    // The other three begin, and three more are accepted.
    await eventually(answered)
    for (let count = 0; count < 3; count += 1) accepted.push(service.sent())
    // If the journal has waited for long by now, they go into the tables.
    const [isAccepted] = accepted.map((one) => one.then(() => true))
    await eventually(async () => (await held()) === 6 || (await Promise.race([isAccepted, false])))
  })
  ids.push(...(await Promise.all(accepted)))
  await eventually(() => answers.length === 3)
  await whileJournalWaits(async () => {
    // If this node died now, these three would be submitted again.
    await eventually(async () => smsc.submits.length > 6 || (await answered()))
    expect(smsc.submits).toHaveLength(6)
    smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  })
  for (const msgId of ids) await service.until(msgId, 'SENT')
  expect(smsc.submits).toHaveLength(9)
})
