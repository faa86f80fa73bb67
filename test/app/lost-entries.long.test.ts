import { expect, test } from 'vitest'
import { eventually, startService } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import { ask, type StockPostgres, startPair } from '../support/stock-postgres.ts'
import { call } from '../support/tenant.ts'

/** Two servers, one of which is promoted. The short form, lost-entries.test.ts, takes the entries away from the only one. */

test('what only the old primary had is on the promoted standby as well', async () => {
  await using pair = await startPair()
  const { primary, standby } = pair
  await using silent = await startSmsc()
  silent.answerSubmits(() => undefined)
  const connectionString = `postgresql://aldis@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
  await using own = await startService({ app: { connectionString, heartbeatMs: 200 }, smscPort: silent.port })
  const ids = [await own.sent()]
  const lastOf = async (server: StockPostgres) => {
    const [row] = await ask<{ last: number }>(server, 'select max(n)::integer as last from journal')
    return row!.last
  }
  const before = await lastOf(primary)
  await eventually(async () => (await lastOf(standby)) >= before)
  await ask(standby, `alter system set primary_conninfo = ''`)
  await ask(standby, 'select pg_reload_conf()')
  await eventually(async () => (await ask(primary, 'select from pg_stat_replication')).length === 0)
  ids.push(await own.sent())
  const replicated = await lastOf(standby)
  await ask(standby, 'select pg_promote()')
  await eventually(async () => {
    const { status, body } = await own.send()
    if (status === 202) ids.push(body.msgId)
    return (await lastOf(standby)) > replicated
  })
  const second = await own.startNode({ connectionString, nodeName: 'second' })
  const { servicePlanId, token } = own
  for (const msgId of ids) {
    const path = `/v1/messages/sms/${msgId}?servicePlanId=${servicePlanId}`
    expect((await call(second.url + path, token)).status).toBe(200)
  }
})
