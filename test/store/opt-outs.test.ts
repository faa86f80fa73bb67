import { beforeEach, describe, expect, test } from 'vitest'
import {
  changeOptOuts,
  deleteOptOut,
  findOptOuts,
  insertOptOuts,
  listOptOuts,
} from '../../src/store/opt-outs.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { storeMessage } from '../support/stored-messages.ts'
import { requestFor, take } from '../support/taken.ts'

const SENDER = '+49301234567'
const PERSON = '+491701234567'
const { db, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(async () => {
  await db.query('truncate opt_outs, dispatches, idempotency_keys')
  await db.query(`update service_plans set opt_out = '{}' where id = $1`, [plan])
})

const pair = (changes = {}) => ({ planId: plan, sender: SENDER, recipient: PERSON, ...changes })

/** What the person wants from now on; whether that changed anything. */
async function change(optsOut: boolean, changes = {}): Promise<boolean> {
  const row = { ...pair(changes), optsOut, replyId: newId(Date.now()) }
  const changed = await changeOptOuts(db, [row])
  expect([[], [row.replyId]]).toContainEqual(changed)
  return changed.length === 1
}

const optedOut = async (changes = {}) => (await findOptOuts(db, [pair(changes)])).length === 1

describe('what a person wants', () => {
  test('is kept once and ended once', async () => {
    expect([await change(true), await change(true), await optedOut()]).toEqual([true, false, true])
    expect([await change(false), await change(false), await optedOut()]).toEqual([true, false, false])
  })

  test('concerns one sender of one plan', async () => {
    await change(true)
    expect(await optedOut({ planId: otherPlan })).toBe(false)
    expect(await optedOut({ sender: '12345' })).toBe(false)
    expect(await optedOut({ recipient: '+491701234568' })).toBe(false)
    await change(false, { sender: '12345' })
    expect(await optedOut()).toBe(true)
  })

  test('of many at once', async () => {
    await change(true, { recipient: '+4917000001' })
    const rows = ['+4917000001', '+4917000002', '+4917000003'].map((recipient, index) => {
      return { ...pair({ recipient }), optsOut: index > 0, replyId: newId(Date.now()) }
    })
    const changed = await changeOptOuts(db, rows)
    expect(new Set(changed)).toEqual(new Set(rows.map(({ replyId }) => replyId)))
    expect((await findOptOuts(db, rows)).map(({ recipient }) => recipient).sort()).toEqual([
      '+4917000002',
      '+4917000003',
    ])
  })

  test('of the same people in two batches at once', async () => {
    const rows = () =>
      Array.from({ length: 50 }, (_, n) => {
        return { ...pair({ recipient: `+49170000${100 + n}` }), optsOut: true, replyId: newId(Date.now()) }
      })
    const changed = await Promise.all([changeOptOuts(db, rows()), changeOptOuts(db, rows().reverse())])
    expect(changed.flat()).toHaveLength(50)
  })
})

describe('a message', () => {
  test('that waited is told as it is taken up, but for the confirmation and where the plan keeps no opt-outs', async () => {
    const waiting = (planId = plan) => storeMessage(db, planId, { sender: SENDER, recipient: PERSON })
    const [unwanted, confirmation, elsewhere] = [await waiting(), await waiting(), await waiting(otherPlan)]
    await changeOptOuts(db, [
      { ...pair(), optsOut: true, replyId: confirmation },
      { ...pair({ planId: otherPlan }), optsOut: true, replyId: newId(Date.now()) },
    ])
    const taken = await take(db, requestFor(plan, otherPlan))
    expect(new Map(taken.map((dispatch) => [dispatch.msgId, dispatch.optedOut]))).toEqual(
      new Map([
        [unwanted, true],
        [confirmation, false],
        [elsewhere, false],
      ]),
    )
  })
})

describe('for the operator', () => {
  const PLAN_ID = '111111111111111111111111'
  const list = (changes: Partial<Parameters<typeof listOptOuts>[2]> = {}) =>
    listOptOuts(db, plan, {
      after: { sender: '', recipient: '' },
      limit: 100,
      sender: null,
      recipient: null,
      ...changes,
    })
  const recipients = async (changes = {}) =>
    (await list(changes)).map(({ sender, recipient }) => `${sender} ${recipient}`)

  test('added, listed in pages and by address, removed', async () => {
    const rows = ['12345', '+49301234567'].flatMap((sender) =>
      ['+4917000002', '+4917000001'].map((recipient) => ({ servicePlanId: PLAN_ID, sender, recipient })),
    )
    expect(await insertOptOuts(db, rows)).toEqual({ created: 4, missingPlans: [] })
    expect(await insertOptOuts(db, [...rows, rows[0]!])).toEqual({ created: 0, missingPlans: [] })
    const all = await recipients()
    expect([...all].sort()).toEqual([
      '+49301234567 +4917000001',
      '+49301234567 +4917000002',
      '12345 +4917000001',
      '12345 +4917000002',
    ])
    const [sender, recipient] = all[1]!.split(' ') as [string, string]
    expect(await recipients({ after: { sender, recipient }, limit: 1 })).toEqual([all[2]])
    expect(await recipients({ sender: '12345' })).toEqual(['12345 +4917000001', '12345 +4917000002'])
    expect(await recipients({ recipient: '+4917000001', sender: '12345' })).toEqual(['12345 +4917000001'])
    expect(await deleteOptOut(db, otherPlan, '12345', '+4917000001')).toBe(false)
    expect(await deleteOptOut(db, plan, '12345', '+4917000001')).toBe(true)
    expect(await deleteOptOut(db, plan, '12345', '+4917000001')).toBe(false)
  })

  test('plans that are not there are named', async () => {
    const row = { servicePlanId: '0'.repeat(24), sender: '12345', recipient: PERSON }
    expect(await insertOptOuts(db, [row, { ...row, servicePlanId: PLAN_ID }])).toEqual({
      created: 1,
      missingPlans: ['0'.repeat(24)],
    })
  })

  test('are gone with their plan', async () => {
    const { rows } = await db.query(
      `insert into service_plans (service_plan_id, account_id, name)
       select '333333333333333333333333', id, 'short-lived' from accounts returning id`,
    )
    await insertOptOuts(db, [{ servicePlanId: '3'.repeat(24), sender: '12345', recipient: PERSON }])
    await db.query('delete from service_plans where id = $1', [rows[0].id])
    expect(await optedOut({ planId: rows[0].id, sender: '12345' })).toBe(false)
  })
})
