import { beforeEach, describe, expect, test } from 'vitest'
import {
  canonicalId,
  type IdRule,
  idRuleOf,
  isUnlearned,
  ruleInForce,
} from '../../../src/domain/carriers/message-ids.ts'
import type { Directory } from '../../../src/domain/configuration/directory.ts'
import { IdRules } from '../../../src/services/messages/id-rules.ts'
import { Recorder } from '../../../src/services/messages/recorder.ts'
import { readDirectory } from '../../../src/store/directory.ts'
import { nothingInProgress } from '../../support/in-progress.ts'
import { CARRIER_ID, installedDatabase, newId } from '../../support/installation.ts'
import { KeptLog, strictLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import {
  clearTables,
  countOf,
  HOLDER,
  receipt,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase()
await db.query(
  `insert into carriers (id, name, host, port, system_id, password) overriding system value
   values ($1, 'acme', 'smsc.example', 2775, 'aldis', 'sealed')`,
  [CARRIER_ID],
)
const BATCH = 20
let isAlone: boolean
let directory: Directory
let log: KeptLog
let idRules: IdRules
let recorder: Recorder

beforeEach(async () => {
  await clearTables(db, 'submissions', 'parked_receipts')
  await db.query(`update carriers set id_rule = 'auto', learned_id_rule = null`)
  await follow()
  isAlone = true
  log = new KeptLog()
  ;({ idRules, recorder } = aNode())
})

async function follow(): Promise<void> {
  directory = await readDirectory(db, (sealed) => sealed)
}

function aNode() {
  const rules = new IdRules({
    isAlone: () => isAlone,
    db,
    directory: () => directory,
    clock: Date.now,
    batch: BATCH,
    log,
  })
  const node = new Recorder({
    db,
    directory: () => directory,
    clock: Date.now,
    inProgress: nothingInProgress(db),
    writeEvents: (write) => write(HOLDER),
    idRules: rules,
    onChanged: () => {},
    log: strictLog,
  })
  return { idRules: rules, recorder: node }
}

const carrier = () => directory.carrierById(CARRIER_ID)!

/** The carrier accepts a message under this id, which is older than any receipt. */
async function accepted(id: string, recipient = '+15551230000'): Promise<string> {
  const msgId = await storeMessage(db, plan, { msg_id: newId(Date.now() - 10_000), recipient })
  recorder.addOutcome(submission(plan, msgId, canonicalId(id, idRuleOf(carrier()), 'submit')))
  recorder.addOutcome(sent(plan, msgId))
  await eventually(async () => (await statusOf(db, msgId)) !== 'QUEUED')
  return msgId
}

/** The carrier says DELIVERED of this id; resolves with the deliver_sm_resp. */
function delivered(id: string, addresses = ['15551230000'], node = recorder): Promise<boolean> {
  const row = receipt(canonicalId(id, idRuleOf(carrier()), 'receipt'), 'DELIVERED', {
    addresses,
    untranslated: isUnlearned(carrier()),
    receiptedId: id,
    idRule: ruleInForce(carrier()),
    receipt: null,
  })
  return new Promise((done) => node.addReceipt({ receipt: row, done }))
}

async function stored(): Promise<IdRule | null> {
  const { rows } = await db.query('select learned_id_rule as rule from carriers')
  return rows[0].rule
}

/** What maintenance does with parked receipts whose id can be read by now. */
/** What is logged of it. */
function learned(idRule: IdRule) {
  return { level: 'info', message: 'id rule learned from receipts', carrier: 'acme', idRule }
}

async function translateParked(): Promise<void> {
  await recorder.applyParked((await idRules.translateParked()).receipts)
}

describe('learning', () => {
  const FORMS: readonly [string, IdRule, readonly (readonly [submitted: string, receipted: string])[]][] = [
    [
      'decimal receipts of hexadecimal ids',
      'decimal-hex',
      [
        ['1F4', '500'],
        ['000003e8', '0000001000'],
        ['FFFFFFFFFFFFFFFF', '18446744073709551615'],
      ],
    ],
    [
      'hexadecimal receipts of decimal ids',
      'hex-decimal',
      [
        ['500', '1f4'],
        ['0000001000', '000003E8'],
        ['77', '4D'],
      ],
    ],
    [
      'UUIDs in two cases',
      'normalised',
      [
        ['0e999f21-81ef-4974-a414-3de98174e3c7', 'E999F21-81EF-4974-A414-3DE98174E3C7'],
        ['018f5e2a-7b1c-7cde-8f00-0123456789ab', '018F5E2A-7B1C-7CDE-8F00-0123456789AB'],
        ['a1-b', 'A1-B'],
      ],
    ],
    [
      'leading zeros',
      'normalised',
      [
        ['0000012', '12'],
        ['13', '00013'],
        ['abc', '0ABC'],
      ],
    ],
  ]

  test.each(FORMS)('%s: %s', async (_name, rule, pairs) => {
    for (const [submitted, receipted] of pairs) {
      expect(await stored()).toBeNull()
      const msgId = await accepted(submitted)
      expect(await delivered(receipted)).toBe(true)
      expect(await statusOf(db, msgId)).toBe('DELIVERED')
    }
    expect(await stored()).toBe(rule)
    expect(log.lines).toEqual([learned(rule)])
    const before = directory.contents.version
    await follow()
    expect(directory.contents.version).not.toBe(before)
    const msgId = await accepted(pairs[0]![0])
    await delivered(pairs[0]![1])
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
  })

  test('ids of one digit tell nothing, the same message tells once', async () => {
    for (const id of ['1', '2', '3', '4']) {
      await accepted(id)
      await delivered(id)
    }
    await accepted('1f4')
    for (let time = 0; time < 4; time += 1) await delivered('500')
    expect(await stored()).toBeNull()
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('a contradiction begins the count anew', async () => {
    const pairs = [
      ['1f4', '500'],
      ['1f5', '501'],
      ['abc', 'ABC'],
      ['1f6', '502'],
      ['1f7', '503'],
    ] as const
    for (const [submitted, receipted] of pairs) {
      await accepted(submitted)
      await delivered(receipted)
    }
    expect(await stored()).toBeNull()
    await accepted('1f8')
    await delivered('504')
    expect(await stored()).toBe('decimal-hex')
  })

  test('what is learned is not learned otherwise, by this node or another', async () => {
    const other = aNode()
    for (const id of [500, 501, 502]) {
      await accepted(id.toString(16))
      await delivered(String(id))
    }
    for (const id of ['xa', 'xb', 'xc']) {
      await accepted(id)
      await delivered(id.toUpperCase(), undefined, other.recorder)
    }
    expect(log.lines).toEqual([learned('decimal-hex')])
    expect(await stored()).toBe('decimal-hex')
  })

  test('an operator who has set a rule is not overruled', async () => {
    await db.query(`update carriers set id_rule = 'exact'`)
    for (const id of ['xa', 'xb', 'xc']) {
      await accepted(id)
      await delivered(id.toUpperCase())
    }
    expect([await stored(), log.lines]).toEqual([null, []])
  })
})

describe('while nothing is learned', () => {
  test('an id that two messages may mean is parked, and read once the rule is known', async () => {
    // 0x10 is 16 and 0x16 is 22: "16" may mean either.
    const [first, second] = [await accepted('10'), await accepted('16')]
    expect(await delivered('16')).toBe(true)
    expect([await statusOf(db, first), await statusOf(db, second)]).toEqual(['SENT', 'SENT'])
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    await db.query(`update carriers set learned_id_rule = 'decimal-hex'`)
    await follow()
    await translateParked()
    expect([await statusOf(db, first), await statusOf(db, second)]).toEqual(['DELIVERED', 'SENT'])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('with several nodes, a receipt waits until the messages of the others have their records', async () => {
    isAlone = false
    // 36 is 0x24, and the message with the id 36 is in the memory of another node.
    const other = await accepted('24', '+15551230001')
    await delivered('36')
    const msgId = await accepted('36')
    await translateParked()
    expect([await statusOf(db, other), await statusOf(db, msgId)]).toEqual(['SENT', 'SENT'])
    await db.query(`update parked_receipts set received_at = received_at - interval '6 s'`)
    await translateParked()
    expect([await statusOf(db, other), await statusOf(db, msgId)]).toEqual(['SENT', 'DELIVERED'])
  })

  test('a number means no message that was accepted after the receipt came', async () => {
    await delivered('16')
    await db.query(`update parked_receipts set received_at = received_at - interval '2 s'`)
    await storeMessages(['16'])
    await translateParked()
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    const msgId = await accepted('10')
    await translateParked()
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
  })

  test('a receipt that came before its message was accepted is of that message, if its id can be read in one way only', async () => {
    await delivered('npm-1')
    await db.query(`update parked_receipts set received_at = received_at - interval '30 s'`)
    const [msgId] = await storeMessages(['npm-1'])
    await translateParked()
    expect(await statusOf(db, msgId!)).toBe('DELIVERED')
  })

  test('an id that the carrier has given again is of the newer message, as under any rule', async () => {
    const [older, newer] = [await accepted('npm-0'), await accepted('npm-0')]
    await delivered('npm-0')
    expect([await statusOf(db, older), await statusOf(db, newer)]).toEqual(['SENT', 'DELIVERED'])
    await delivered('npm-0')
    expect([await statusOf(db, older), await statusOf(db, newer)]).toEqual(['DELIVERED', 'DELIVERED'])
  })

  test('the address tells two messages apart', async () => {
    const [first, second] = [await accepted('10', '+15551230001'), await accepted('16', '+15551230002')]
    await delivered('16', ['15551230001'])
    expect([await statusOf(db, first), await statusOf(db, second)]).toEqual(['DELIVERED', 'SENT'])
  })

  test('a receipt before its submit_sm_resp is found by it, whatever its form', async () => {
    await delivered('500')
    await delivered('3E9')
    await delivered('00abc')
    expect(await countOf(db, 'parked_receipts')).toBe(3)
    const msgIds = [await accepted('1f4'), await accepted('1001'), await accepted('ABC')]
    for (const msgId of msgIds) await eventually(async () => (await statusOf(db, msgId)) === 'DELIVERED')
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('one whose submission another node records at the same moment is found soon after', async () => {
    await delivered('500')
    const msgId = await storeMessage(db, plan, { msg_id: newId(Date.now() - 10_000) })
    await db.query(
      `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values ($1, '1f4', $2, $3, 0)`,
      [CARRIER_ID, msgId, plan],
    )
    await translateParked()
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('a rule that is learned reads what could not be told before', async () => {
    const [first] = [await accepted('10'), await accepted('16')]
    await delivered('16')
    for (const id of [500, 501, 502]) {
      await accepted(id.toString(16))
      await delivered(String(id))
    }
    await follow()
    await translateParked()
    expect([await stored(), await statusOf(db, first!)]).toEqual(['decimal-hex', 'DELIVERED'])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('a rule that the operator sets reads what is parked; what it does not explain stays', async () => {
    await delivered('500')
    await delivered('nobody')
    await db.query(`update carriers set id_rule = 'decimal-hex'`)
    await follow()
    await translateParked()
    const { rows } = await db.query(
      'select carrier_message_id as id, untranslated from parked_receipts order by 1',
    )
    expect(rows).toEqual([
      { id: '1f4', untranslated: false },
      { id: 'nobody', untranslated: false },
    ])
    const msgId = await accepted('1F4')
    await eventually(async () => (await statusOf(db, msgId)) === 'DELIVERED')
    expect((await idRules.translateParked()).receipts).toEqual([])
  })
})

/** As jsmpp's own server: random ids, hexadecimal in submit_sm_resp, decimal in the receipt. */
const JSMPP_IDS = Array.from({ length: 50 }, (_, n) => (n * 3_571_003 + 17) % 0x7fffffff)

describe('what is parked under one rule is read again under the next', () => {
  const setRule = async (rule: IdRule | 'auto') => {
    await db.query('update carriers set id_rule = $1, learned_id_rule = null', [rule])
    await follow()
  }

  test.each<[IdRule | 'auto', IdRule | 'auto']>([
    ['exact', 'auto'],
    ['exact', 'decimal-hex'],
    ['hex-decimal', 'auto'],
    ['normalised', 'decimal-hex'],
  ])('%s, then %s: in batches, until none is left', async (before, after) => {
    await setRule(before)
    const msgIds = await storeMessages(JSMPP_IDS.map((id) => id.toString(16)))
    await Promise.all(JSMPP_IDS.map((id) => delivered(String(id))))
    expect(await countOf(db, 'parked_receipts')).toBe(JSMPP_IDS.length)
    await setRule(after)
    let batches = 0
    for (let more = true; more; batches += 1) {
      const batch = await idRules.translateParked()
      more = batch.more
      await recorder.applyParked(batch.receipts)
      await follow()
    }
    expect(batches).toBeGreaterThan(1)
    await translateParked()
    expect(await countOf(db, 'parked_receipts')).toBe(0)
    expect(new Set(await Promise.all(msgIds.map((msgId) => statusOf(db, msgId))))).toEqual(
      new Set(['DELIVERED']),
    )
  })

  test('ids stored as the carrier wrote them, in capitals, are found under the new rule', async () => {
    await setRule('exact')
    const msgIds = await storeMessages(['1F4A', '1F4B', 'DEADBEEF'])
    for (const id of [0x1f4a, 0x1f4b, 0xdeadbeef]) await delivered(String(id))
    await setRule('auto')
    await translateParked()
    for (const msgId of msgIds) expect(await statusOf(db, msgId)).toBe('DELIVERED')
    expect(await stored()).toBe('decimal-hex')
  })

  test('and back: the id of the receipt is never lost', async () => {
    await setRule('decimal-hex')
    await delivered('0016')
    for (const [rule, id] of [
      ['exact', '0016'],
      ['hex-decimal', '22'],
      ['auto', '16'],
      ['decimal-hex', '10'],
    ] as const) {
      await setRule(rule)
      await translateParked()
      const { rows } = await db.query('select carrier_message_id as id, id_rule from parked_receipts')
      expect(rows).toEqual([{ id, id_rule: rule }])
    }
  })
})

/** Messages of one segment that the carrier accepted under these ids, as they would be stored under the rule in force. */
async function storeMessages(ids: readonly string[]): Promise<string[]> {
  const msgIds: string[] = []
  for (const id of ids) {
    const msgId = await storeMessage(db, plan, { msg_id: newId(Date.now()) })
    recorder.addOutcome(submission(plan, msgId, canonicalId(id, idRuleOf(carrier()), 'submit')))
    recorder.addOutcome(sent(plan, msgId))
    msgIds.push(msgId)
  }
  await eventually(() => recorder.backlog === 0)
  return msgIds
}
