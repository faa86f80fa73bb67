import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addFact, loadedMessage, messageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import * as backlog from '../../src/store/backlog.ts'
import { readBinds } from '../../src/store/carriers.ts'
import { addPrefixCounts } from '../../src/store/country-pauses.ts'
import type { Database, Queryable } from '../../src/store/database.ts'
import { readDirectoryIn, readDirectoryVersion } from '../../src/store/directory.ts'
import { findWaitingPlans, lockDueDispatches, takeDispatches } from '../../src/store/dispatches.ts'
import * as due from '../../src/store/due-deliveries.ts'
import * as deliveries from '../../src/store/event-deliveries.ts'
import { drawPositions, feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { readLanes } from '../../src/store/followed-lanes.ts'
import * as keys from '../../src/store/idempotency-keys.ts'
import { findInboundMessage, insertInboundMessages } from '../../src/store/inbound-messages.ts'
import * as offers from '../../src/store/inbound-offers.ts'
import * as parts from '../../src/store/inbound-parts.ts'
import * as journal from '../../src/store/journal.ts'
import { findMessage } from '../../src/store/messages.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { publishReport } from '../../src/store/node-reports.ts'
import { heartbeat, publishConditions, readOtherNodes, takeBuckets } from '../../src/store/nodes.ts'
import * as optOuts from '../../src/store/opt-outs.ts'
import * as parked from '../../src/store/parked-receipts.ts'
import { createPartition, listPartitions, tablesLacking } from '../../src/store/partitions.ts'
import { findRecorded } from '../../src/store/projection.ts'
import * as quality from '../../src/store/quality.ts'
import { primaryPlace, replayedPlace } from '../../src/store/read-replica.ts'
import { matchClosely, matchReceipts } from '../../src/store/receipt-matches.ts'
import { updateRecords } from '../../src/store/record-changes.ts'
import { decideUncertainMessages } from '../../src/store/records.ts'
import * as redeliveries from '../../src/store/redeliveries.ts'
import { findSealedMessages, replaceSealedMessages } from '../../src/store/sealed-secrets.ts'
import { writeStatistics } from '../../src/store/statistics.ts'
import * as unanswered from '../../src/store/unanswered-submits.ts'
import * as destinations from '../../src/store/webhook-destinations.ts'
import { deleteRecovered, listTroubledDestinations } from '../../src/store/webhook-destinations.ts'
import { databaseOfFile } from '../support/database.ts'
import { acceptedFact, receiptFact, settledFact, submittedFact } from '../support/messages-in-memory.ts'

const ID = '019aa000-0000-7000-8000-000000000000'
const EVENT = { msgId: ID, sequence: 1 }
const LANE = { lane: 1, epoch: 1 }
const HOLD = { nodeId: 1, buckets: [1], limit: 1 }
const DUE = {
  buckets: [],
  plans: new Map(),
  closedRoutes: [],
  carriers: [],
  limit: 1,
  expired: true,
  overdueMs: 1,
}
const STRETCH = { planId: 1, after: EVENT, upTo: ID, limit: 1, ahead: 0, dryRun: false }
const NOW = new Date()

/** A message that has come back from its record, and has been submitted. */
function submitted() {
  const accepted = acceptedFact(1, ID)
  const { state } = messageInProgress(ID, accepted)
  const message = loadedMessage(ID, { accepted, state, hasWaitingEvents: false })
  for (const fact of [submittedFact('1'), settledFact(0), receiptFact('1', 0)]) addFact(message, fact)
  return { message, undelivered: [] }
}

/** Has every named statement of the store run. */
const CALLS: readonly ((db: Queryable) => Promise<unknown>)[] = [
  backlog.countWaitingMessages,
  backlog.countWaitingEvents,
  backlog.countParkedEvents,
  (db) => destinations.listDestinations(db, { planId: 1, after: '', limit: 1 }),
  (db) => destinations.findDestination(db, 1, ''),
  readDirectoryVersion,
  (db) => readDirectoryIn(db, String),
  findWaitingPlans,
  (db) => lockDueDispatches(db, DUE),
  (db) => takeDispatches(db as Database, db, 1, []),
  due.findWaitingEvents,
  (db) => due.takeDueEvents(db, HOLD),
  (db) => due.takeParkedEvents(db, HOLD, { planId: 1, destination: '' }),
  (db) => due.takeProbes(db, HOLD, 1),
  (db) => deliveries.recordAttempts(db, []),
  (db) => deliveries.requeueEvents(db, []),
  (db) => feedEnd(db, 1),
  (db) => readFeed(db, { planId: 1, filters: { since: null }, after: null, limit: 1 }, '1'),
  (db) => readFeed(db, { planId: 1, filters: { since: 0 }, after: null, limit: 1 }, '1'),
  (db) => drawPositions(db, []),
  (db) => readLanes(db, [], null, { entries: 1, octets: 1 }),
  (db) => keys.takeIdempotencyKeys(db, [], 1, ''),
  (db) => keys.findIdempotencyKeys(db, []),
  (db) => keys.deleteOldIdempotencyKeys(db, 1, 1),
  (db) => findInboundMessage(db, 1, ID),
  (db) => insertInboundMessages(db, [], { nodeId: 1, lanes: [] } as never),
  (db) => offers.findOffers(db, [], 1),
  (db) => offers.takeOverOffers(db, [], 1),
  (db) => offers.releaseOffers(db, [], [1]),
  (db) => offers.deleteOffers(db, [], [1]),
  (db) => parts.insertInboundParts(db, []),
  (db) => parts.takeSupersededSets(db, []),
  (db) => parts.takeFinishedSets(db, [], 1),
  (db) => parts.takeCompleteSets(db, 1),
  (db) => parts.takeOldSets(db, 1, 1),
  (db) => journal.appendEntry(db, LANE, 1, Buffer.of()),
  (db) => journal.readEntries(db, 1, 1, 1),
  (db) => journal.cutJournal(db, LANE, 1),
  (db) => findMessage(db, [], ID),
  (db) => decideUncertainMessages(db, [], ''),
  (db) => lockMessages(db, []),
  (db) => createPartition(db, 'messages', { name: '20260101', fromMsgId: ID, toMsgId: ID }),
  (db) => listPartitions(db, 'messages'),
  (db) => tablesLacking(db, ['20260101']),
  (db) => publishReport(db, 1, '{}'),
  (db) => primaryPlace(db),
  (db) => replayedPlace(db),
  (db) => heartbeat(db, { nodeId: 1, name: '', mayRemove: true }),
  (db) => takeBuckets(db, 1, 1),
  readBinds,
  (db) => publishConditions(db, 1, '{}'),
  (db) => readOtherNodes(db, { nodeId: 1, leftMs: 1, carriers: [] }),
  (db) => optOuts.changeOptOuts(db, []),
  (db) => optOuts.letRepliesOut(db, []),
  (db) => optOuts.findOptOuts(db, []),
  (db) => parked.parkReceipts(db, []),
  (db) => parked.unparkReceipts(db, []),
  (db) => parked.findParkedReceipts(db, []),
  (db) => parked.findNewParkedReceipts(db, { parkedAt: NOW.toISOString(), parkedId: 1 }, 1),
  (db) => parked.findMatchableReceipts(db, { parkedAt: NOW.toISOString(), parkedId: 1 }, 1),
  (db) => parked.findCandidates(db, []),
  (db) => findRecorded(db, []),
  (db) => quality.addQualityMinutes(db, []),
  (db) => quality.missingReceipts(db, { from: NOW, before: NOW }),
  (db) => quality.readFloorFigures(db, [], NOW),
  (db) => quality.listPauses(db, NOW),
  (db) => addPrefixCounts(db, [], NOW.getTime()),
  (db) => unanswered.addUnansweredSubmits(db, []),
  unanswered.isAnyUnanswered,
  (db) =>
    unanswered.findReceiptsByAddress(db, {
      after: { parkedAt: NOW.toISOString(), parkedId: 1 },
      before: NOW.toISOString(),
      waitMs: 1,
      withinMs: 1,
      limit: 1,
    }),
  (db) => matchReceipts(db, [], ID),
  (db) => matchClosely(db, [], ID),
  (db) => updateRecords(db, [submitted()], { lane: null, stays: false }, []),
  (db) => redeliveries.redeliverOne(db, 1, EVENT),
  (db) => redeliveries.redeliverFailed(db, { ...STRETCH, destination: null }),
  (db) => redeliveries.redeliverKept(db, STRETCH),
  (db) => findSealedMessages(db, { planId: 1, msgId: ID }, 1),
  (db) => replaceSealedMessages(db, []),
  (db) => writeStatistics(db, 1, []),
  listTroubledDestinations,
  (db) => deleteRecovered(db, 1),
]

/** The named statements, by name. Each keeps its plan; any other is planned when it runs, by the size its tables have then. */
async function statementsOfCalls(): Promise<ReadonlyMap<string, string>> {
  const statements = new Map<string, string>()
  const query = async ({ name, text }: { name?: string; text: string }) => {
    if (name !== undefined) statements.set(name, text)
    return { rows: [], rowCount: 0 }
  }
  // Some go on with a row of the answer.
  for (const call of CALLS) await call({ query } as unknown as Queryable).catch(() => undefined)
  return statements
}

function namesInStore(): string[] {
  const folder = new URL('../../src/store/', import.meta.url)
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8'))
  return sources.flatMap((source) =>
    [...source.matchAll(/\bname: '(\w+)',(?:\s*\/\/.*)*\s*text:/g)].map(([, name]) => name!),
  )
}

/** As many rows as an operator configures, as there are nodes, or a fixed number. Every other table may have more. */
const SMALL =
  /^(accounts|service_plans|(operator_)?tokens|buckets|carriers|carrier_(binds|pauses)|routes|route_carriers|nodes|node_reports|lanes|webhook_destinations|directory_version)$/

const INTENDED = {
  // The sweep for sets that no other part completed looks at every part that waits.
  take_complete_sets: ['reads all of inbound_parts'],
  // Up to the first row.
  is_any_unanswered: ['reads all of unanswered_submits'],
}

/** Primary keys, by table. */
type Keys = ReadonlyMap<string, { readonly columns: readonly string[]; readonly index: string }>

interface Plan {
  readonly 'Node Type': string
  readonly 'Parent Relationship'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
  readonly [property: string]: unknown
}

/**
 * What of a plan takes longer the more rows a table has, in every batch or for each row of one. `limited`: the parent takes
 * the first few rows.
 */
function faultsOf(plan: Plan, keys: Keys, limited = false): string[] {
  const { 'Node Type': type, 'Relation Name': relation = '', Plans: inputs = [] } = plan
  const table = relation.replace(/_\d{8}$/, '')
  const isBound = 'Index Cond' in plan || 'Recheck Cond' in plan || (limited && !('Filter' in plan))
  const found: string[] = []
  if (type.endsWith('Scan') && table !== '' && !SMALL.test(table)) {
    if (!isBound) found.push(`reads all of ${table}`)
    const { columns, index } = keys.get(relation)!
    const comparedBy = (part: string) =>
      columns.filter((column) =>
        isLookedFor(String(plan[part]).replace(OF_PLAN, ''), `${plan.Alias}.${column}`),
      )
    const isByOther = comparedBy('Index Cond').length === columns.length && plan['Index Name'] !== index
    if (isByOther || comparedBy('Filter').length > 0)
      found.push(`reads ${table} by ${String(plan['Index Name']).replace(/_\d{8}/, '')}`)
  }
  const inputOf = (side: string) => inputs.find((input) => input['Parent Relationship'] === side)
  // A Result is one row.
  if (
    type === 'Nested Loop' &&
    inputOf('Outer')!['Node Type'] !== 'Result' &&
    isRecomputed(inputOf('Inner')!)
  )
    found.push('computes the same for each row')
  const passes = type === 'Limit' || (limited && /Append$|^LockRows$|^Result$/.test(type))
  return [...found, ...inputs.flatMap((input) => faultsOf(input, keys, passes))]
}

/** `ofPlan`, which is no condition where no plan is named. */
const OF_PLAN = /\(\w+\.plan_id = COALESCE\(\$\d+, \w+\.plan_id\)\)/g

/** A condition compares the column with a value or with that of another row. */
function isLookedFor(condition: string, column: string): boolean {
  return condition.includes(`(${column} = `)
    ? !condition.includes(`(${column} = ANY ($`)
    : condition.includes(` = ${column})`)
}

/** It aggregates, and nothing below depends on the row that it is computed for. */
function isRecomputed(plan: Plan): boolean {
  if (/^(Materialize|Memoize)$/.test(plan['Node Type'])) return false
  if (/Aggregate|WindowAgg|Sort/.test(plan['Node Type'])) {
    const aliases = new Set(nodesOf(plan).map(({ Alias }) => Alias))
    const used = [...JSON.stringify(plan).matchAll(/\b([a-z]\w*)\.(?:\\")?\w/g)].map(([, alias]) => alias)
    return used.every((alias) => aliases.has(alias))
  }
  return (plan.Plans ?? []).some(isRecomputed)
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

const { db } = await databaseOfFile({ state: 'started' })

test('each kept plan is right when its tables were empty and analyzed', async () => {
  const statements = await statementsOfCalls()
  expect([...statements.keys()].toSorted()).toEqual(namesInStore().toSorted())
  await db.query('vacuum analyze')
  const { rows: keyRows } = await db.query<{ table: string; index: string; columns: string[] }>(`
    select c.relname as table, x.relname as index, array_agg(a.attname::text) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey::smallint[])
    where i.indisprimary group by 1, 2`)
  const keys = new Map(keyRows.map(({ table, ...key }) => [table, key]))
  const client = await db.connect()
  await using _ = { [Symbol.asyncDispose]: async () => client.release(true) }
  // Without pruning nothing is left out that the parameters (all are null) would make needless.
  await client.query(
    'begin; set local plan_cache_mode = force_generic_plan; set local enable_partition_pruning = off',
  )
  const faults: Record<string, string[]> = {}
  for (const [name, text] of statements) {
    const nulls = Array.from(
      { length: Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n))) },
      () => 'null',
    )
    await client.query(`prepare ${name} as ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (verbose, format json) execute ${name}${nulls.length > 0 ? `(${nulls})` : ''}`,
    )
    const found = new Set(faultsOf(rows[0]!['QUERY PLAN'][0].Plan, keys))
    if (found.size > 0) faults[name] = [...found]
  }
  expect(faults).toEqual(INTENDED)
})
