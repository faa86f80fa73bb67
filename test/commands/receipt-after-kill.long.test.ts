import { expect, test } from 'vitest'
import { SERVE_SECRETS, startServe } from '../support/process.ts'
import { eventually, startService } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import { call } from '../support/tenant.ts'

/** The short form is the last test of app/receipts-in-doubt.test.ts, where a node falls silent. */

test('kill -9 of a node whose submit is not answered: the receipt comes over another node, and finds the message', async () => {
  await using smsc = await startSmsc()
  await using service = await startService({
    app: {
      secretKey: Buffer.from(SERVE_SECRETS.SECRET_KEY, 'hex'),
      ambiguityWaitMs: 60_000,
      linkTimings: { responseTimeoutMs: 300 },
    },
    smscPort: smsc.port,
    carrier: { idRule: 'normalised', binds: 2 },
    webhooks: false,
  })
  await using killed = await startServe({ DATABASE_URL: service.connectionString, NODE_ID: 'killed' })
  await eventually(async () => {
    const { rows } = await service.db.query(`
      select distinct n.name from carrier_binds join nodes n using (node_id) where bind < 2`)
    return rows.length === 2 && smsc.bindsNow === 2
  })
  smsc.answerSubmits(() => undefined)
  const { servicePlanId, token } = service
  const fields = { servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230000', body: 'hello' }
  const accepted = await call(`${killed.baseUrl}/v1/sendsms`, token, 'POST', fields)
  expect(accepted.status).toBe(202)
  const { msgId } = accepted.body
  await eventually(() => smsc.submits.length === 1)
  killed.running.kill('SIGKILL')
  await killed.running.exited
  await smsc.receipt('nobody-knows', 'DELIVRD')
  await service.until(msgId, 'DELIVERED')
  expect(smsc.submits).toHaveLength(1)
  const { attempts } = await service.admin('GET', `/messages/${msgId}`)
  expect(attempts).toMatchObject([
    { outcome: 'accepted', carrier: 'main', reason: expect.stringContaining('by its addresses') },
    { outcome: 'no-answer', carrier: null, reason: 'node lost' },
  ])
})
