/** What answers at DATABASE_URL: which server, and whether a pooler in front of it shares its connections. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { DatabaseHosts } from './database-hosts.ts'
import { type SessionSettings, sessionSettings, setForRole, setForSession } from './session-settings.ts'

/** Shared by the pools of a process; new connections use it. */
export interface DatabaseServer {
  readonly hosts: DatabaseHosts
  /** Each transaction may get another connection to the server, so nothing that a session sets is kept. */
  pooled: boolean
  /** Whether named statements are prepared. */
  prepared: boolean
  /** The records are spread over the workers of Citus. */
  sharded: boolean
  /** Plans whose records are on a worker that is away. */
  awayPlans: ReadonlySet<number>
}

export interface ServerFacts {
  readonly versionNumber: number
  /** For a person, like `15.14 (Debian 15.14-0+deb12u1)`. */
  readonly version: string
  readonly database: string
  readonly role: string
  readonly encoding: string
  /** The first schema of the search path that exists: where the tables are. Null when none exists. */
  readonly schema: string | null
  /** Whether the role may create tables there: every node creates the partitions of the coming days. */
  readonly mayCreate: boolean
  /** It has Citus. */
  readonly sharded: boolean
}

/** Rounds in which two connections compare servers; a busy pooler may return the same ones by chance. */
const ROUNDS = 3
const CONNECT_TIMEOUT_MS = 10_000
/** Of these statements, whatever the role's own bounds are. */
const BOUNDS = { statement_timeout: '30000', lock_timeout: '30000' }

/** The server before anything is known about it: no pooler. */
export function directServer(connectionString: string, prepared: boolean): DatabaseServer {
  return {
    hosts: new DatabaseHosts(connectionString),
    pooled: false,
    prepared,
    sharded: false,
    awayPlans: new Set(),
  }
}

/**
 * Connects, and notes in `server` whether a pooler is in front. Changes nothing about a connection that others may get
 * next.
 */
export async function reachServer(server: DatabaseServer): Promise<ServerFacts> {
  const client = await connect(server.hosts)
  try {
    const { pid, ...facts } = await factsOf(client)
    // A pooler makes up the process id that clients cancel by.
    const pooler = (client as unknown as { processID: number }).processID !== pid
    server.sharded = facts.sharded
    server.pooled = pooler && (await sharesConnections(server.hosts, client))
    if (server.pooled && server.prepared) server.prepared = !(await mixesNames(client))
    return facts
  } finally {
    await client.end()
  }
}

/** Stores the settings with the role, for this database. Returns the names of those that changed. */
export async function keepInRole({ hosts }: DatabaseServer, settings: SessionSettings): Promise<string[]> {
  const client = await connect(hosts)
  try {
    return await withOurSettings(client, () => setForRole(client, settings))
  } finally {
    await client.end()
  }
}

/** A connection to the primary for a moment, with no settings of its own. */
export async function connect(hosts: DatabaseHosts, applicationName = 'aldis'): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: (await hosts.find()).connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  // A lost connection fails the statement in flight; its error event must not end the process.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/**
 * Runs `work` in a transaction under our settings. The next one on this connection has those of the role again. After an
 * error the connection must be closed.
 */
async function withOurSettings<Result>(client: pg.Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  await setForSession(client, { ...sessionSettings(0), ...BOUNDS }, 'transaction')
  const result = await work()
  await client.query('commit')
  return result
}

async function factsOf(client: pg.Client): Promise<ServerFacts & { pid: number }> {
  const { rows } = await withOurSettings(client, () => client.query(FACTS))
  return rows[0]
}

const FACTS = `
  select pg_backend_pid() as pid, current_setting('server_version_num')::integer as "versionNumber",
         current_setting('server_version') as version, current_database() as database, session_user as role,
         current_setting('server_encoding') as encoding, current_schema() as schema,
         coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
         exists (select from pg_extension where extname = 'citus') as sharded`

/** True when several server processes serve one connection, or one process serves two connections. */
async function sharesConnections(hosts: DatabaseHosts, first: pg.Client): Promise<boolean> {
  const second = await connect(hosts)
  try {
    const pids = { first: new Set<number>(), second: new Set<number>() }
    for (let round = 0; round < ROUNDS; round += 1) {
      // Twice each, because a pooler hands out the connection that came back last, or the one that has been idle longest.
      for (const _ of [1, 2]) pids.first.add((await factsOf(first)).pid)
      for (const _ of [1, 2]) pids.second.add((await factsOf(second)).pid)
    }
    const [pid] = pids.first
    return pids.first.size > 1 || pids.second.size > 1 || pids.second.has(pid!)
  } finally {
    await second.end()
  }
}

/**
 * True when a pooler passes on the names of prepared statements unchanged: the next client that uses the name on that
 * connection is refused (42P05), and this one elsewhere (26000). A pooler that supports them (PgBouncer from 1.21)
 * renames them.
 */
async function mixesNames(client: pg.Client): Promise<boolean> {
  const name = `aldis_${randomBytes(8).toString('hex')}`
  return withOurSettings(client, async () => {
    await client.query({ name, text: 'select 1' })
    const { rowCount } = await client.query('select from pg_prepared_statements where name = $1', [name])
    if (rowCount === 0) return false
    await client.query(`deallocate ${name}`)
    return true
  })
}
