import {
  BIND_LOOKS_PER_SECOND,
  CONDITIONS_PER_SECOND,
  CONNECTIONS,
  COSTS,
  type Cost,
  ENTRIES_PER_SECOND,
  FEED,
  type Layout,
  LOOKS,
  MAIN_THREAD_MS,
  MAIN_THREAD_SHARE,
  PARKED_LOOKS_PER_SECOND,
  POLLS,
  POLLS_ON_REFERENCE,
  READS_THAT_FOLLOW_ALL,
  ROUNDS_PER_SECOND,
  TOOLS_MS,
  USABLE_SHARE,
  WAL,
} from './scale-costs.ts'
import { type Sample, sampleMessages } from './scale-sample.ts'

/**
 * A model of many nodes on one database: each resource says at which rate of messages it is used up. Costs are milliseconds of
 * CPU on the reference machine of bench/RESULTS.md (91396578).
 */

/** What PostgreSQL works for. */
export type Cause = 'journal' | 'projection' | 'handed' | 'receipts' | 'parked' | 'lanes' | 'asking'

/** Something that can be used up: what it takes in a second without messages, and for each message. */
interface Resource {
  readonly name: string
  readonly fixed: number
  readonly perMessage: number
  readonly capacity: number
}

export interface Growth {
  /** Messages a second with which the first resource is used up. */
  readonly perSecond: number
  /** Milliseconds of CPU of a message at that rate, of all nodes and PostgreSQL. */
  readonly cpuMs: number
  /** The first to be used up comes first. */
  readonly resources: readonly (Resource & { readonly perSecond: number })[]
  /** Cores of PostgreSQL at a rate, by cause. */
  postgresCores(perSecond: number): Readonly<Record<Cause, number>>
  readonly connections: { readonly busy: number; readonly most: number }
  readonly commitsPerSecond: number
  readonly walBytes: number
  readonly handedShare: number
  readonly foreignShare: number
}

export function grow(layout: Layout, seed = 1): Growth {
  const sample = sampleMessages(layout, seed)
  const causes = postgresCauses(layout, sample)
  const resources = resourcesOf(layout, sample, causes)
    .map((resource) => ({ ...resource, perSecond: rateOf(resource) }))
    .sort((a, b) => a.perSecond - b.perSecond)
  const processes = layout.nodes * layout.workers
  const [{ perSecond }] = resources as [Growth['resources'][number]]
  const all = totalOf(layout, sample, causes)
  return {
    perSecond,
    cpuMs: all.fixed / perSecond + all.perMessage,
    resources,
    postgresCores: (perSecond) => {
      const cores = Object.entries(causes).map(([cause, [fixed, each]]) => [
        cause,
        (fixed + each * perSecond) / 1_000,
      ])
      return Object.fromEntries(cores) as Record<Cause, number>
    },
    connections: { busy: processes * CONNECTIONS.busy, most: processes * CONNECTIONS.most },
    commitsPerSecond: processes * (ENTRIES_PER_SECOND + ROUNDS_PER_SECOND),
    walBytes: WAL.message + sample.handed * WAL.handed + sample.foreign * WAL.foreignReceipt,
    handedShare: sample.handed,
    foreignShare: sample.foreign,
  }
}

function rateOf({ fixed, perMessage, capacity }: Resource): number {
  if (fixed >= capacity) return 0
  return perMessage === 0 ? Number.POSITIVE_INFINITY : (capacity - fixed) / perMessage
}

/** What a node and its reads ask the database all the time, in milliseconds a second. A node that is alone asks nothing. */
function pollsOf({
  nodes,
  workers,
  carriers,
  bindsPerCarrier,
  readsPerSecond,
  changesPerMinute,
}: Layout): Cost {
  const n = nodes * workers
  const binds = carriers * bindsPerCarrier
  const reloads = Math.min(1, changesPerMinute / 60)
  const cost = (index: 0 | 1) => {
    const { heartbeat, bind, bindOfNode, conditions, parkedLook, laneLook, reload } = POLLS
    const looks = BIND_LOOKS_PER_SECOND * binds * (bind[index] + n * bindOfNode[index])
    const frequent = CONDITIONS_PER_SECOND * conditions[index] + PARKED_LOOKS_PER_SECOND * parkedLook[index]
    const reads = readsPerSecond * n * laneLook[index]
    return (
      POLLS_ON_REFERENCE *
      ((n === 1 ? 0 : heartbeat[index] + looks + frequent + reads) + reloads * reload[index])
    )
  }
  return [cost(0), cost(1)]
}

type Causes = Readonly<Record<Cause, readonly [fixed: number, perMessage: number]>>

function postgresCauses(layout: Layout, { handed, foreign }: Sample): Causes {
  const n = layout.nodes * layout.workers
  const [, asking] = pollsOf(layout)
  return {
    journal: [n * ENTRIES_PER_SECOND * COSTS.entry[1], 0],
    projection: [n * ROUNDS_PER_SECOND * COSTS.round[1], COSTS.message[1]],
    handed: [0, handed * COSTS.handed[1] + (layout.roles ? COSTS.toldElsewhere[1] : 0)],
    receipts: [0, foreign * COSTS.foreignReceipt[1]],
    parked: [0, foreign * LOOKS * n * COSTS.parkedRow[1]],
    lanes: [0, (layout.readers + n * followedShare(layout)) * COSTS.followed[1]],
    asking: [n * asking, 0],
  }
}

/** Share of all messages that each node reads in the lanes of others. */
function followedShare({ nodes, workers, readers, readsPerSecond }: Layout): number {
  if (readers > 0) return 0
  const n = nodes * workers
  return ((n - 1) / n) * Math.min(1, readsPerSecond / READS_THAT_FOLLOW_ALL)
}

interface Use {
  readonly fixed: number
  readonly perMessage: number
}

/** What each node does in a second without messages: with entries and rounds, and what it asks. */
function workOf(layout: Layout): { readonly working: number; readonly asking: number } {
  const working = ENTRIES_PER_SECOND * COSTS.entry[0] + ROUNDS_PER_SECOND * COSTS.round[0]
  return { working, asking: pollsOf(layout)[0] }
}

/** What every node does for every message. */
function onEachNode(layout: Layout, { foreign }: Sample): number {
  return foreign * LOOKS * COSTS.parkedRow[0] + followedShare(layout) * COSTS.followed[0]
}

function sumOf(causes: Causes): Use {
  const all = Object.values(causes)
  const sum = (index: 0 | 1) => all.reduce((total, cause) => total + cause[index], 0)
  return { fixed: sum(0), perMessage: sum(1) }
}

/** All nodes and PostgreSQL. */
function totalOf(layout: Layout, sample: Sample, causes: Causes): Use {
  const { working, asking } = workOf(layout)
  const n = layout.nodes * layout.workers
  const { fixed, perMessage } = sumOf(causes)
  return {
    fixed: n * (working + asking) + fixed,
    perMessage: sample.nodesMs + n * onEachNode(layout, sample) + perMessage,
  }
}

function resourcesOf(layout: Layout, sample: Sample, causes: Causes): Resource[] {
  const { isShared, nodeCores, databaseCores, bindPerSecond, readers, hasBusyPlan } = layout
  const { working, asking } = workOf(layout)
  const onEach = onEachNode(layout, sample)
  const mainThread = {
    fixed: working * MAIN_THREAD_SHARE + asking,
    perMessage: sample.busiestMs * MAIN_THREAD_SHARE + onEach,
  }
  const heldMs = FEED.held / FEED.most + FEED.message
  const usableMs = databaseCores * 1_000 * USABLE_SHARE
  const own = [
    { name: 'main thread', ...mainThread, capacity: MAIN_THREAD_MS },
    { name: 'feed', fixed: 0, perMessage: hasBusyPlan ? (1 + sample.foreign) * heldMs : 0, capacity: 1_000 },
    { name: 'bind', fixed: 0, perMessage: sample.busiestBind, capacity: bindPerSecond },
    {
      name: 'reader',
      fixed: asking,
      perMessage: readers > 0 ? COSTS.followed[0] : 0,
      capacity: MAIN_THREAD_MS,
    },
  ]
  if (!isShared) {
    const node = { fixed: working + asking, perMessage: sample.busiestMs + onEach }
    return [
      ...own,
      { name: 'node', ...node, capacity: nodeCores * 1_000 },
      { name: 'PostgreSQL', ...sumOf(causes), capacity: usableMs },
    ]
  }
  const { fixed, perMessage } = totalOf(layout, sample, causes)
  return [...own, { name: 'machine', fixed, perMessage: perMessage + TOOLS_MS, capacity: usableMs }]
}
