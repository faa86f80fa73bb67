import { beforeEach, describe, expect, test } from 'vitest'
import type { ServicePlan } from '../../src/domain/configuration/configuration.ts'
import { Directory } from '../../src/domain/configuration/directory.ts'
import { createdAtMs } from '../../src/domain/identifiers.ts'
import { DEFAULT_OPT_OUT } from '../../src/domain/opt-outs.ts'
import { parseUserData, UDHI } from '../../src/domain/text/concatenation.ts'
import { type InboundDeps, receiveInbound } from '../../src/operations/receive-inbound.ts'
import {
  inboundDeps,
  NOW_MS,
  NUMBER,
  partOf,
  SENDER,
  single,
  storedTexts,
  texts,
} from '../support/inbound-segments.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { clearTables, countOf } from '../support/stored-messages.ts'

const { db, directory, announcedPlan, silentPlan } = await installedDatabase({ atMs: NOW_MS })

beforeEach(() =>
  clearTables(
    db,
    'inbound_messages',
    'inbound_parts',
    'unowned_inbound_messages',
    'events',
    'event_deliveries',
  ),
)

const depsOf = (given: Partial<InboundDeps> = {}) => inboundDeps({ db, directory, ...given })

describe('a single message', () => {
  test('is recorded with its event and given back', async () => {
    const [received] = await receiveInbound(depsOf(), [single('Grüße')])
    expect(received).toMatchObject({
      inbound: {
        planId: announcedPlan,
        sender: SENDER,
        recipient: NUMBER,
        body: 'Grüße',
        keyword: null,
      },
      plan: { servicePlanId: '111111111111111111111111' },
      held: true,
    })
    expect(createdAtMs(received!.inbound.msgId)).toBe(NOW_MS)
    const { rows } = await db.query(
      'select * from events join event_deliveries using (plan_id, msg_id, sequence)',
    )
    expect(rows).toMatchObject([
      {
        msg_id: received!.inbound.msgId,
        sequence: 0,
        status: null,
        holder: 3,
        occurred_at: new Date(NOW_MS),
      },
    ])
  })

  test('an empty batch does nothing', async () => {
    expect(await receiveInbound(depsOf(), [])).toEqual([])
  })

  test('whose bucket this node does not own waits for the owner', async () => {
    const deps = depsOf({ newMessageId: () => newId(NOW_MS, 8) })
    expect((await receiveInbound(deps, [single('x')])).map(({ held }) => held)).toEqual([false])
  })

  test('to a plan without an inbound URL is kept, without an event', async () => {
    const received = await receiveInbound(depsOf(), [single('quiet', { recipient: '+49307654321' })])
    expect(received).toMatchObject([{ inbound: { planId: silentPlan }, held: false }])
    expect([await countOf(db, 'inbound_messages'), await countOf(db, 'event_deliveries')]).toEqual([1, 0])
  })

  test.each([
    ['+49301234567', '+49301234567'],
    ['49301234567', '+49301234567'],
    ['12345', '12345'],
    ['+7654321', '7654321'],
  ])('to %s reaches the owner of %s, under the configured number', async (recipient, number) => {
    const received = await receiveInbound(depsOf(), [single('x', { recipient })])
    expect(received.map(({ inbound }) => inbound.recipient)).toEqual([number])
  })

  test.each(['+15550001111', '', '99999', 'constructor'])(
    'to %j, which nobody owns, is kept apart and counted',
    async (recipient) => {
      let unowned = 0
      const deps = depsOf({ onUnowned: (count) => (unowned += count) })
      const received = await receiveInbound(deps, [single('lost', { recipient }), single('mine')])
      expect([texts(received), unowned]).toEqual([['mine'], 1])
      const { rows } = await db.query('select sender, recipient, body from unowned_inbound_messages')
      expect(rows).toEqual([{ sender: SENDER, recipient, body: 'lost' }])
    },
  )

  test.each([
    ['stop', 'STOP'],
    ['Stop! it now', 'STOP'],
    ['HALLO du', 'Hallo'],
    ['please stop', null],
    ['', null],
  ])('%j has the keyword %j', async (text, keyword) => {
    const received = await receiveInbound(depsOf(), [single(text)])
    expect(received.map(({ inbound }) => inbound.keyword)).toEqual([keyword])
    expect((await db.query('select keyword from inbound_messages')).rows).toEqual([{ keyword }])
  })

  test('with a malformed user data header comes as it is', async () => {
    const raw = Buffer.from([0x05, 0x00, 0x03, 0x2a, 0x02])
    const { payload, part } = parseUserData({ esmClass: UDHI, shortMessage: raw, tlvs: {} })
    const received = await receiveInbound(depsOf(), [single('', { payload, part })])
    expect(texts(received)).toEqual([raw.toString('latin1').replaceAll('\0', '')])
  })

  test('in a national language', async () => {
    const turkish = { dataCoding: 0, language: { locking: 1, single: 1 } }
    expect(texts(await receiveInbound(depsOf(), [single('\x1bIlk ya\x0c\x1bs', turkish)]))).toEqual([
      'İlk yağş',
    ])
  })

  test('with octets that PostgreSQL cannot hold as text is recorded without them', async () => {
    const ucs2 = Buffer.from([0x00, 0x41, 0x00, 0x00, 0xd8, 0x3d, 0x00, 0x42, 0x99])
    await receiveInbound(depsOf(), [single('', { payload: ucs2, dataCoding: 8 }), single('a\0b')])
    expect(await storedTexts(db)).toEqual(['A\ufffdB', 'ab'].sort())
  })
})

describe('STOP', () => {
  const listening = (): Directory => {
    const { contents } = directory
    const listens = (plan: ServicePlan) =>
      plan.id === announcedPlan ? { ...plan, optOut: DEFAULT_OPT_OUT } : plan
    const numbers = [...contents.inboundNumbers].map(
      ([number, owner]) => [number, { ...owner, plan: listens(owner.plan) }] as const,
    )
    return new Directory({
      ...contents,
      plans: contents.plans.map(listens),
      inboundNumbers: new Map(numbers),
    })
  }
  const keptOf = async () => {
    const { rows } = await db.query('select plan_id, sender, recipient from opt_outs order by recipient')
    return rows
  }
  const [other, third] = ['+491701234568', '+491701234569']

  beforeEach(() => clearTables(db, 'opt_outs'))

  test('is kept with its message, in one part or several, under the number as it is owned', async () => {
    const deps = depsOf({ directory: listening() })
    const received = await receiveInbound(deps, [
      single('stop!'),
      single('Stop', { sender: other, recipient: '+7654321' }),
      partOf('ST', 1, { total: 2 }, { sender: third }),
      partOf('OP', 2, { total: 2 }, { sender: third }),
      single('stop', { sender: other, recipient: '+49307654321' }),
      single('stop', { sender: other, recipient: '+4999999999' }),
    ])
    expect(texts(received)).toEqual(['STOP', 'Stop', 'stop', 'stop!'])
    const plan_id = announcedPlan
    expect(await keptOf()).toEqual([
      { plan_id, sender: NUMBER, recipient: SENDER },
      { plan_id, sender: '7654321', recipient: other },
      { plan_id, sender: NUMBER, recipient: third },
    ])
    await receiveInbound(deps, [single('hello', { sender: third }), single('Start')])
    expect((await keptOf()).map(({ recipient }) => recipient)).toEqual([other, third])
  })

  test('is not kept where its message is not', async () => {
    const id = newId(NOW_MS)
    const deps = depsOf({ directory: listening(), newMessageId: () => id })
    await expect(receiveInbound(deps, [single('STOP'), single('twice the id')])).rejects.toThrow()
    expect([await keptOf(), await countOf(db, 'inbound_messages')]).toEqual([[], 0])
  })

  test('is a message like any other where nobody listens', async () => {
    expect(texts(await receiveInbound(depsOf(), [single('STOP')]))).toEqual(['STOP'])
    expect(await keptOf()).toEqual([])
  })
})

describe('a COMMIT of unknown outcome is read back', () => {
  const FINGERPRINT = '0f'.repeat(16)
  const offers = {
    offers: [
      { carrierId: 1, fingerprint: FINGERPRINT, offerId: newId(NOW_MS), turn: 1, judgedAtMs: Date.now() },
    ],
    nodeId: 3,
  }
  const lost = () => new Error('Connection terminated unexpectedly')

  beforeEach(() => db.query('truncate inbound_offers'))

  /** Loses the connection at the statement of this name, before or after it took effect. */
  function losing(statement: string, isDone: boolean): InboundDeps['db'] {
    const query = async (what: { name?: string }) => {
      if (what.name !== statement) return db.query(what as never)
      if (isDone) await db.query(what as never)
      throw lost()
    }
    return new Proxy(db, {
      get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)),
    })
  }

  test('recorded: given back as it is, its event held', async () => {
    const deps = depsOf({ db: losing('insert_inbound_messages', true), offers })
    const received = await receiveInbound(deps, [single('YES')])
    expect(received).toMatchObject([{ inbound: { body: 'YES' }, held: true }])
    expect([await countOf(db, 'inbound_messages'), await storedTexts(db)]).toEqual([1, ['YES']])
    const { rows } = await db.query('select holder from event_deliveries')
    expect(rows).toEqual([{ holder: 3 }])
  })

  test('not recorded: rejected, to be offered again', async () => {
    const deps = depsOf({ db: losing('insert_inbound_messages', false), offers })
    await expect(receiveInbound(deps, [single('YES')])).rejects.toThrow('Connection terminated')
    expect(await countOf(db, 'inbound_messages')).toBe(0)
  })
})
