// Made from the OpenAPI document by `npm run generate-client`.

export interface Node {
  /** changes with each start, and when its lease has been lost. */
  nodeId: number
  /** its NODE_ID; of a worker, with its number. */
  name: string
  /** its NODE_ROLE. */
  role: 'all' | 'api' | 'carrier' | 'webhook'
  host: string | null
  pid: number | null
  version: string | null
  /** its number; null: it is not one of several workers. */
  worker: number | null
  /** how many workers its parent has. */
  workers: number | null
  /** when it was registered, which it is again after its lease was lost. */
  since: string
  lastHeartbeatAt: string
  /** unless renewed; then its work is taken over. */
  leaseEndsAt: string
  /** it is stopping, and accepts nothing more. */
  draining: boolean | null
  /** of 256; messages accepted here go into these. */
  buckets: number
  /** binds of carriers that belong to it. */
  binds: number
  /** sessions that are bound; a bind may have two. */
  boundLinks: number | null
  /** in its memory and journal. */
  messagesInProgress: number | null
  /** of these, still to be submitted. */
  messagesHeld: number | null
  /** messages with webhook events in its memory. */
  webhooksHeld: number | null
  /** how old the fields are that only the node itself knows; null: it has not reported them yet. */
  reportAgeMs: number | null
}

export interface Nodes {
  items: Node[]
}

/** Each operation: its input, and its answer when it succeeds. */
export interface NodesOperations {
  /** List the nodes. Returns every node whose lease is not over. Each worker is a node. What a node says of itself is some seconds old. */
  listNodes: { input: Record<string, never>; answer: Nodes }
}
