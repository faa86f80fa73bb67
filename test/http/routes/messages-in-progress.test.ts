import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPlan, startAdminServer } from '../../support/admin-server.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  type HttpService,
  PLAN,
  PLAN_SECOND,
  startHttpService,
  storePlans,
} from '../../support/http-service.ts'
import { LaneWriter, received, settled } from '../../support/lane-writer.ts'

/** Messages that no table has yet: of the node that is asked, and of another. */

const SENDER = '12345'
/** Its id in the database of `startHttpService`. */
const PLAN_ID = 1

let service: HttpService
let nodes: LaneWriter[]
beforeAll(async () => {
  service = await startHttpService({
    async messages(db) {
      nodes = [await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)]
      return nodes[0]!.reads
    },
  })
  await storePlans(service)
})
afterAll(() => service[Symbol.asyncDispose]())

describe.each([
  ['this node', 0],
  ['another node', 1],
])('a message of %s', (_, index) => {
  it('is looked up, wherever it is named', async () => {
    const [msgId = ''] = await nodes[index]!.accept(PLAN_ID)
    const expected = {
      msgId,
      servicePlanId: PLAN,
      status: 'QUEUED',
      to: '+15551230000',
      errorCode: '000',
      sentAt: null,
    }
    for (const path of [`/v1/messages/sms/${msgId}?servicePlanId=${PLAN}`, `/v1/messages/${msgId}`])
      expect((await service.get(path)).json).toMatchObject(expected)
    expect((await service.get(`/v1/messages/sms/${msgId}?servicePlanId=${PLAN_SECOND}`)).status).toBe(404)
    await nodes[index]!.write([settled(msgId)])
    expect((await service.get(`/v1/messages/${msgId.toUpperCase()}`)).json).toMatchObject({
      msgId,
      status: 'SENT',
    })
  })

  it('is listed in its place, and stays there when it is recorded', async () => {
    const [older = '', newer = ''] = [
      ...(await nodes[index]!.accept(PLAN_ID, [{ sender: SENDER, recipient: `+1555000000${index}` }])),
      ...(await nodes[1 - index]!.accept(PLAN_ID, [{ sender: SENDER, recipient: `+1555000000${index}` }])),
    ]
    const path = `/v1/messages/sms?servicePlanId=${PLAN}&to=%2B1555000000${index}&limit=1`
    const first = (await service.get(path)).json
    expect(first.items).toMatchObject([{ msgId: newer }])
    expect(first.pagination.hasMore).toBe(true)
    await nodes[index]!.project([older])
    const second = (await service.get(`${path}&cursor=${first.pagination.nextCursor}`)).json
    expect(second.items).toMatchObject([{ msgId: older }])
    expect(second.pagination).toMatchObject({ hasMore: false, nextCursor: null })
  })
})

describe('events', () => {
  it('are recorded before they are listed, shown and redelivered', async () => {
    const ids = await nodes[0]!.accept(PLAN_ID, [{}, {}, {}])
    await nodes[0]!.write(ids.flatMap((msgId) => [settled(msgId), received(msgId)]))
    const [shown = '', redelivered = '', listed = ''] = ids
    const { json: event } = await service.get(`/v1/webhooks/events/${shown}-2?servicePlanId=${PLAN}`)
    expect(event).toMatchObject({ eventId: `${shown}-2`, state: 'pending' })
    expect(nodes[0]!.get(listed)?.msgId).toBe(listed)
    const { status } = await service.request({
      method: 'POST',
      path: `/v1/webhooks/events/${redelivered}-1/redeliver`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ servicePlanId: PLAN }),
    })
    expect(status).toBe(202)
    const { json: events } = await service.get(`/v1/webhooks/events?servicePlanId=${PLAN}&limit=2`)
    expect(events.items).toMatchObject([{ eventId: `${listed}-2` }, { eventId: `${listed}-1` }])
  })
})

describe('operators', () => {
  it('find them, with all that happened to them', async () => {
    await using database = await freshDatabase({ state: 'started' })
    const [node, other] = [await LaneWriter.open(database.db, 1), await LaneWriter.open(database.db, 2)]
    await using server = await startAdminServer({ database, messages: node.reads })
    const { accountId, servicePlanId } = await createPlan(server)
    const planId = server.directory.current().planByPublicId(servicePlanId)!.id
    const [mine = ''] = await node.accept(planId)
    const [theirs = ''] = await other.accept(planId)
    await node.write([settled(mine)])
    const list = async () => (await server.request('GET', '/messages?from=Aldis')).body
    const items = [
      { accountId, servicePlanId, msgId: theirs, status: 'QUEUED', carrier: null },
      { accountId, servicePlanId, msgId: mine, status: 'SENT', errorCode: '000' },
    ]
    expect(await list()).toMatchObject({ items, nextAfter: null })
    const { body } = await server.request('GET', `/messages/${mine}`)
    expect(body).toMatchObject({ msgId: mine, status: 'SENT', webhookEvents: [{ event: 1, status: 'SENT' }] })
    expect(node.size).toBe(0)
    expect(await list()).toMatchObject({ items, nextAfter: null })
    expect((await server.request('GET', `/webhook-events/${mine}-1`)).status).toBe(200)
  })
})
