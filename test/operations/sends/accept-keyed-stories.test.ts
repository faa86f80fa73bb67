import { expect, test } from 'vitest'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import { type AcceptingNode, acceptBy, anAcceptingNode } from '../../support/accepting-nodes.ts'
import { eventually } from '../../support/eventually.ts'
import { type Around, type Become, become } from '../../support/gated-database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'
import { NODE } from '../../support/stored-messages.ts'

const { db, directory, announcedPlan } = await installedDatabase({ poolSize: 12 })
const plan = directory.planById(announcedPlan)!
const OTHER = 2
const KEYS_OF_ROUND = 20
const MOST_TAKEOVERS = 4
const OUTCOMES: readonly Become[] = ['refused', 'answer lost', 'never sent']

/** Now and then a statement fails, or its answer is lost. */
let fails = true
const around: Around = async (name, run) => {
  const isLost = fails && name !== undefined && name !== 'connect' && Math.random() < 0.06
  return await become(db, isLost ? OUTCOMES[Math.floor(Math.random() * 3)]! : 'done', run)
}

const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)]!

/** The id of the message that was accepted; null: it was not. */
async function accepted(node: AcceptingNode, body: string, key: string | null): Promise<string | null> {
  const outcome = await acceptBy(node, plan, { body, key })
  return outcome.kind === 'queued' || outcome.kind === 'replayed' ? outcome.message.msgId : null
}

/**
 * Sends with this key until it is answered 202; then once more by each node; and messages without a key beside it. Returns
 * the ids that were answered, by body.
 */
async function idsOf(nodes: readonly AcceptingNode[], key: string): Promise<[string, Set<string>][]> {
  const keyed = new Set<string>()
  const others: Promise<[string, Set<string>]>[] = []
  const sendOther = async (node: AcceptingNode, body: string): Promise<[string, Set<string>]> => {
    const id = await accepted(node, body, null)
    return [body, new Set(id === null ? [] : [id])]
  }
  const send = async (node: AcceptingNode) => {
    for (let id: string | null = null; id === null; ) {
      others.push(sendOther(node, `${key} other ${others.length}`))
      id = await accepted(node, key, key)
      if (id !== null) keyed.add(id)
    }
  }
  await send(anyOf(nodes))
  for (const node of nodes) await send(node)
  const unkeyed = await Promise.all(others)
  return [[key, keyed], ...unkeyed.filter(([, ids]) => ids.size > 0)]
}

test('whatever is lost, and whoever has the lanes, a key stands for one message, and what is answered is stored', async () => {
  const keeping = await Promise.all([1, 2].map(() => anAcceptingNode(db, { around })))
  const nodes = [...keeping, await anAcceptingNode(db, { around, keeps: false })]
  let takeOvers = 0
  /** No node is registered here, so every lane is a dead one's. */
  const takeLanesOver = async () => {
    for (; takeOvers < MOST_TAKEOVERS; takeOvers += 1) {
      await recoverLanes(db, { nodeId: OTHER, ambiguityWaitMs: 1_000, delivers: () => true, log: quietLog })
      await eventually(() => keeping.every(({ inProgress }) => inProgress.lane === null))
      for (const { inProgress } of keeping)
        await eventually(() =>
          inProgress.register(NODE).then(
            () => true,
            () => false,
          ),
        )
    }
  }
  const takingOver = takeLanesOver()
  const answered = new Map<string, Set<string>>()
  for (let round = 0; takeOvers < MOST_TAKEOVERS; round += 1) {
    const keys = Array.from({ length: KEYS_OF_ROUND }, (_, n) => `key ${round} ${n}`)
    const ids = await Promise.all(keys.map((key) => idsOf(nodes, key)))
    for (const [body, of] of ids.flat()) answered.set(body, of)
  }
  await takingOver
  fails = false
  for (const { inProgress } of keeping) await inProgress.stop(5_000)
  await recoverLanes(db, { nodeId: OTHER, ambiguityWaitMs: 1_000, delivers: () => true, log: quietLog })
  const { rows } = await db.query<{ body: string; msgId: string }>(
    `select body, msg_id as "msgId" from messages where not (status = 'FAILED' and error_code = '100')`,
  )
  const stored = new Map(
    Map.groupBy(rows, ({ body }) => body)
      .entries()
      .map(([body, all]) => [body, all.map(({ msgId }) => msgId)]),
  )
  expect(stored).toEqual(new Map(answered.entries().map(([key, ids]) => [key, [...ids]])))
})
