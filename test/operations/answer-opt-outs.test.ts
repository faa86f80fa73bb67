import { beforeEach, describe, expect, test } from 'vitest'
import type { OptOutSettings, ServicePlan } from '../../src/domain/configuration/configuration.ts'
import { DEFAULT_OPT_OUT, type OptOutRequest } from '../../src/domain/opt-outs.ts'
import { answerOptOuts, type OptOutAsked, REPLY_PAUSE_MS } from '../../src/operations/answer-opt-outs.ts'
import { withTransaction } from '../../src/store/database.ts'
import { aRoute } from '../support/directory.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { clearTables } from '../support/stored-messages.ts'

const NUMBER = '+49301234567'
const PERSON = '+491701234567'
const REPLIES = { stopReply: 'out', startReply: 'in', helpReply: 'help' }
const DEPS = { newMessageId: () => newId(Date.now()) }

const { db, directory, announcedPlan } = await installedDatabase()
let plan: ServicePlan

beforeEach(async () => {
  plan = planWith(REPLIES)
  await clearTables(db, 'opt_outs', 'messages', 'dispatches', 'idempotency_keys')
})

function planWith(replies: Partial<OptOutSettings>, changes: Partial<ServicePlan> = {}): ServicePlan {
  return {
    ...directory.planById(announcedPlan)!,
    route: aRoute(),
    optOut: { ...DEFAULT_OPT_OUT, ...replies },
    ...changes,
  }
}

const asked = (request: OptOutRequest, changes: Partial<OptOutAsked> = {}): OptOutAsked => {
  return { plan, request, number: NUMBER, person: PERSON, ...changes }
}

async function answer(...requests: (OptOutRequest | OptOutAsked)[]): Promise<void> {
  const all = requests.map((each) => (typeof each === 'string' ? asked(each) : each))
  await withTransaction(db, (transaction) => answerOptOuts(transaction, DEPS, all))
}

/** Texts of the answers so far, by person, as they wait to be sent. */
async function replies(person = PERSON): Promise<string[]> {
  const { rows } = await db.query(
    `select m.body from messages m join dispatches d on d.msg_id = m.msg_id
     where m.sender = $1 and m.recipient = $2 order by m.msg_id`,
    [NUMBER, person],
  )
  return rows.map(({ body }) => body)
}

async function optedOut(): Promise<string[]> {
  const { rows } = await db.query('select recipient from opt_outs order by recipient')
  return rows.map(({ recipient }) => recipient)
}

const anHourLater = () =>
  db.query(`update idempotency_keys set created_at = created_at - $1 * interval '1 ms'`, [
    REPLY_PAUSE_MS + 1_000,
  ])

describe('what is kept', () => {
  test.each([
    [['stop'], true],
    [['start'], false],
    [['help'], false],
    [['stop', 'start'], false],
    [['start', 'stop'], true],
    [['stop', 'start', 'stop', 'help'], true],
    [['stop', 'stop'], true],
  ] as const)('%j in one batch: out %s', async (requests, out) => {
    await answer(...requests)
    expect(await optedOut()).toEqual(out ? [PERSON] : [])
  })

  test('of several people of one batch, each their own', async () => {
    await answer(asked('stop', { person: '+4917000001' }))
    await answer(
      asked('start', { person: '+4917000001' }),
      asked('stop', { person: '+4917000002' }),
      asked('help', { person: '+4917000003' }),
      asked('stop', { person: '+4917000004' }),
    )
    expect(await optedOut()).toEqual(['+4917000002', '+4917000004'])
  })

  test('nothing of a sender that cannot be sent to', async () => {
    await answer(asked('stop', { person: '12345' }), asked('help', { person: 'Example' }))
    expect(await optedOut()).toEqual([])
    expect(await replies('12345')).toEqual([])
  })
})

describe('what is answered', () => {
  test('the confirmation is a message of the plan, of this moment, without a callback', async () => {
    await answer('stop')
    const { rows } = await db.query(
      `select m.*, d.expires_at > now() as valid from messages m join dispatches d on d.msg_id = m.msg_id`,
    )
    expect(rows).toMatchObject([
      {
        plan_id: plan.id,
        status: 'QUEUED',
        sender: NUMBER,
        recipient: PERSON,
        body: 'out',
        segments: 1,
        country: 'DE',
        callback_url: null,
        valid: true,
      },
    ])
    const { rows: kept } = await db.query('select confirmation from opt_outs')
    expect(kept).toEqual([{ confirmation: rows[0].msg_id }])
  })

  test('what changes something, and HELP', async () => {
    await answer('start')
    expect(await replies()).toEqual([])
    await answer('help')
    await answer('stop')
    await answer('stop')
    await answer('start')
    // Replies of one millisecond stand in no order.
    expect((await replies()).toSorted()).toEqual(['help', 'in', 'out'])
  })

  test('HELP and STOP of somebody who has opted out, but no HELP with the STOP', async () => {
    await answer('help', 'stop')
    expect(await replies()).toEqual(['out'])
    await answer('help')
    expect(await replies()).toEqual(['out', 'help'])
    await anHourLater()
    await answer('stop')
    expect(await replies()).toEqual(['out', 'help', 'out'])
  })

  test('the latest answer goes out to somebody who has opted out', async () => {
    const answers = async () => (await db.query('select msg_id from messages order by msg_id')).rows
    const goesOut = async () => (await db.query('select confirmation as msg_id from opt_outs')).rows
    await answer('stop')
    expect(await goesOut()).toEqual(await answers())
    await answer('help')
    expect(await goesOut()).toEqual((await answers()).slice(1))
    // Not answered: an hour has not gone by.
    await answer('stop', 'help')
    expect(await goesOut()).toEqual((await answers()).slice(1))
  })

  test('HELP with a START', async () => {
    await answer('stop')
    await answer('start', 'help')
    expect((await replies()).sort()).toEqual(['help', 'in', 'out'])
  })

  test('one of a kind in an hour', async () => {
    for (let round = 0; round < 3; round += 1) await answer('stop', 'stop')
    await answer('start')
    await answer('stop')
    await answer('start', 'help', 'help')
    await answer('help')
    expect((await replies()).sort()).toEqual(['help', 'in', 'out'])
    await anHourLater()
    await answer('help')
    expect((await replies()).sort()).toEqual(['help', 'help', 'in', 'out'])
  })

  test('the same batch again, as a carrier that had no answer sends it, changes nothing', async () => {
    const batch = [asked('stop'), asked('help', { person: '+4917000002' })]
    await answer(...batch)
    await answer(...batch)
    expect(await optedOut()).toEqual([PERSON])
    expect([await replies(), await replies('+4917000002')]).toEqual([['out'], ['help']])
  })

  test('what another transaction was about to answer, when that is undone', async () => {
    const met = Promise.withResolvers<void>()
    const watched = gatedDatabase(
      db,
      async (name, run) => {
        const result = await run()
        if (name === 'take_idempotency_keys') met.resolve()
        return result
      },
      { inTransactions: true },
    )
    let second: Promise<void> | undefined
    const undone = withTransaction(db, async (transaction) => {
      await answerOptOuts(transaction, DEPS, [asked('help')])
      second = withTransaction(watched, (other) => answerOptOuts(other, DEPS, [asked('help')]))
      await met.promise
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await second
    expect(await replies()).toEqual(['help'])
  })

  test('not at all while another transaction is about to for long: the carrier is to offer it again', async () => {
    await withTransaction(db, async (transaction) => {
      await answerOptOuts(transaction, DEPS, [asked('help')])
      await expect(answer('help')).rejects.toThrow('another transaction')
    })
    expect(await replies()).toEqual(['help'])
  })

  test.each([
    ['without a text', () => planWith({ ...REPLIES, stopReply: null })],
    ['of a plan that is not active', () => planWith(REPLIES, { active: false })],
    ['of a plan without a route', () => planWith(REPLIES, { route: null })],
  ])('nothing %s; the opt-out is kept', async (_name, planOf) => {
    plan = planOf()
    await answer('stop')
    expect(await replies()).toEqual([])
    expect(await optedOut()).toEqual([PERSON])
  })

  test('all of a transaction or nothing', async () => {
    const failing = withTransaction(db, async (transaction) => {
      await answerOptOuts(transaction, DEPS, [asked('stop')])
      throw new Error('later')
    })
    await expect(failing).rejects.toThrow('later')
    expect([await optedOut(), await replies()]).toEqual([[], []])
  })
})
