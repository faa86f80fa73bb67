/** What bench/scale-model.ts counts with: figures of bench/RESULTS.md, and the layouts that it has them for. */

/** Milliseconds of CPU of Node and of PostgreSQL. */
export type Cost = readonly [node: number, postgres: number]

/** bench/RESULTS.md says at "Growth" what each was taken from. */
export const COSTS = {
  /** Of a message that stays on the node that accepts it, without its share of entries and rounds of projection. */
  message: [0.0994, 0.028],
  /** Of an entry of the journal, with the turns of the event loop around it. */
  entry: [0.64, 0.25],
  /** Of a round of projection. */
  round: [0.5, 0.6],
  /** More, for a message that another node submits, because it has the bind: written at once, loaded, and rewritten. */
  handed: [0.09, 0.1],
  /** More, for a message whose webhooks a third node sends (roles). */
  toldElsewhere: [0.02, 0.11],
  /** More, for a receipt over a bind of a node that did not submit its message: parked, found, and applied at rest. */
  foreignReceipt: [0.14, 0.12],
  /** More, for a receipt that another worker of the same node takes. */
  siblingReceipt: [0.06, 0],
  /** Of one parked receipt in one look of one node. */
  parkedRow: [0.0015, 0.0007],
  /** Of a message of another node's lane that is read because somebody asks this node. */
  followed: [0.006, 0.0003],
} satisfies Record<string, Cost>

/** Of one question to the database, by `npm run node-polls`, on a machine where a message takes 0.28 ms instead of 0.153. */
export const POLLS_ON_REFERENCE = 0.55
export const POLLS = {
  heartbeat: [0.4, 0.95],
  /** Who has which bind, for each bind; and for each bind and node. */
  bind: [0.001, 0.003],
  bindOfNode: [0.000033, 0],
  /** What other nodes' sessions can do; parked receipts, if there are none; other lanes without news, for each lane. */
  conditions: [0.48, 0.23],
  parkedLook: [0.05, 0.03],
  laneLook: [0.002, 0.0053],
  /** The whole configuration after a change: 10,000 service plans, 1,000 carriers. */
  reload: [59, 82],
} satisfies Record<string, Cost>
/** A node looks at the binds when nodes, its lease or the configuration have changed, and every 5 s. */
export const BIND_LOOKS_PER_SECOND = 0.2
export const CONDITIONS_PER_SECOND = 20
export const PARKED_LOOKS_PER_SECOND = 10

/** A busy node appends so many entries a second, and makes so many rounds of projection. */
export const ENTRIES_PER_SECOND = 250
export const ROUNDS_PER_SECOND = 20
/** Share of a node's CPU that is the main thread's; the rest is the webhook thread and V8's helpers. */
export const MAIN_THREAD_SHARE = 0.665
/** Milliseconds a second that the main thread gets at the full rate, beside the other threads. */
export const MAIN_THREAD_MS = 730
/** Load, carrier and receiver of the bench, for a message; and what of two cores they all can use. */
export const TOOLS_MS = 0.02
export const USABLE_SHARE = 0.97
/** How many looks of each node find a receipt before it is applied. */
export const LOOKS = 3
/** Reads a second of a node, from which on it reads everything that the other lanes get. */
export const READS_THAT_FOLLOW_ALL = 10
/**
 * How long a transaction keeps the feeds of its plans, from the draw of their positions to its COMMIT: so many milliseconds, and
 * for each message. 17 ms for some 400 messages were measured. A transaction has at most 500, and receipts at rest have their own.
 */
export const FEED = { held: 8, message: 0.0225, most: 500 }
/** Bytes of the log: of a message, and more. */
export const WAL = { message: 1_731, handed: 1_900, foreignReceipt: 2_300 }
/** Connections of a process: open under load, and most. */
export const CONNECTIONS = { busy: 11, most: 21 }

export interface Layout {
  readonly nodes: number
  /** Processes of a node; they share binds and tell each other receipts. */
  readonly workers: number
  readonly carriers: number
  readonly bindsPerCarrier: number
  /** Submits a second that a bind can do: its window by the time of an answer. */
  readonly bindPerSecond: number
  /** A plan has messages in nearly every transaction of every node: 20 messages a second on each, or more. */
  readonly hasBusyPlan: boolean
  /** Nodes of one role each instead of nodes that do everything. */
  readonly roles: boolean
  /** Look-ups and lists a second, on each node or, if there are any, on these more nodes that do nothing else. */
  readonly readsPerSecond: number
  readonly readers: number
  /** Changes of the configuration; each node reads it at most once a second. */
  readonly changesPerMinute: number
  readonly nodeCores: number
  readonly databaseCores: number
  /** Nodes, database, load, carrier and receiver share the cores of the database, as in the bench. */
  readonly isShared: boolean
}

/** As the bench has it: one carrier with a bind for each process, and two cores for all. */
export const BENCH: Layout = {
  ...{
    nodes: 1,
    workers: 1,
    carriers: 1,
    bindsPerCarrier: 1,
    bindPerSecond: 1e6,
    hasBusyPlan: true,
    roles: false,
  },
  ...{ readsPerSecond: 0, readers: 0, changesPerMinute: 0, nodeCores: 2, databaseCores: 2, isShared: true },
}
