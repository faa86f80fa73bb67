/**
 * The servers of DATABASE_URL, and which of them is the primary.
 */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { databaseAddresses } from '../database-url.ts'
import { NoPrimaryError, type Queryable } from './database.ts'

/** Bound for each of several servers, from the first packet to its answer. */
const HOST_TIMEOUT_MS = 2_000
/** How long a primary waits for the other servers: one of them may have been promoted in its place. */
const OTHERS_MS = 250

export interface DatabaseHost {
  readonly host: string
  readonly port: number
  readonly connectionString: string
}

/** A server that takes writes. Each promotion begins a timeline with a higher number. */
interface Primary {
  readonly host: DatabaseHost
  /** The same on a primary and its standbys. */
  readonly system: string
  readonly timeline: number
}

/** Shared by all pools of a process, so that all are on one server. */
export class DatabaseHosts {
  readonly #hosts: readonly DatabaseHost[]
  /** The server that was last seen to be the primary. */
  #primary: DatabaseHost
  /** False until it was seen to be the primary, and again after any trouble with it. */
  #trusted: boolean
  #search: Promise<DatabaseHost> | null = null
  /** The last primary that a search has found. */
  #found: Primary | null = null
  #rivals: readonly string[] = []
  readonly #connected = new Map<pg.Client, DatabaseHost>()

  /** @throws Error for an invalid connection string; the configuration has already refused those. */
  constructor(connectionString: string) {
    const parsed = databaseAddresses(connectionString)
    if ('fault' in parsed) throw new Error(`the connection string ${parsed.fault}`)
    this.#hosts = parsed.addresses.map((address) => {
      const { host, port } = new pg.Client(address)
      return { host, port, connectionString: address }
    })
    this.#primary = this.#hosts[0]!
    this.#trusted = this.#hosts.length === 1
  }

  get several(): boolean {
    return this.#hosts.length > 1
  }

  /** Longest search for the primary, in milliseconds. */
  get searchMs(): number {
    return this.several ? HOST_TIMEOUT_MS : 0
  }

  /** The server that new connections go to. */
  get primary(): DatabaseHost {
    return this.#primary
  }

  /**
   * At the last search: servers that take writes too, though the primary has been promoted in their place. Whoever writes
   * there writes what will be lost.
   */
  get rivals(): readonly string[] {
    return this.#rivals
  }

  /**
   * Where to connect: the only server, or the last known primary. When that is in doubt, all servers are asked. Whoever needs
   * the answer waits for the same search. @throws NoPrimaryError
   */
  find(): Promise<DatabaseHost> {
    return this.#trusted ? Promise.resolve(this.#primary) : this.search()
  }

  /**
   * Asks all servers. If another has been promoted in place of the primary, every connection to the old one is dropped, even
   * if it still takes writes. @throws NoPrimaryError
   */
  search(): Promise<DatabaseHost> {
    this.#search ??= this.#ask().finally(() => {
      this.#search = null
    })
    return this.#search
  }

  async #ask(): Promise<DatabaseHost> {
    const { primaries, findings } = await judgeAll(this.#hosts, (one) => !this.#isOutdated(one))
    const candidates = this.#ofOneSystem(primaries)
    // Two addresses of one server have one timeline: the known one stays.
    const rank = ({ host, timeline }: Primary) => timeline * 2 + (host === this.#primary ? 1 : 0)
    const [newest] = candidates
      .filter((one) => !this.#isOutdated(one))
      .toSorted((one, other) => rank(other) - rank(one))
    this.#rivals = primaries
      .filter(({ system, timeline }) => system !== newest?.system || timeline !== newest.timeline)
      .map(({ host, timeline }) => `${host.host}:${host.port} takes writes too (timeline ${timeline})`)
    if (newest === undefined)
      throw new NoPrimaryError(
        `no server of DATABASE_URL is the primary: ${[...this.#rivals, ...findings].join(', ')}`,
      )
    if (newest.host !== this.#primary) this.demoted(this.#primary)
    this.#found = newest
    this.#primary = newest.host
    this.#trusted = true
    return newest.host
  }

  /** Timelines are compared only within the database system that is known, else within the first one of DATABASE_URL. */
  #ofOneSystem(primaries: readonly Primary[]): readonly Primary[] {
    const known = primaries.filter(({ system }) => system === this.#found?.system)
    return known.length > 0 ? known : primaries.filter(({ system }) => system === primaries[0]!.system)
  }

  /** Another was promoted in its place, and was the primary of this process. */
  #isOutdated({ system, timeline }: Primary): boolean {
    return this.#found !== null && system === this.#found.system && timeline < this.#found.timeline
  }

  /** From now on, this connection belongs to that server. */
  connected(client: pg.Client, host: DatabaseHost): void {
    this.#connected.set(client, host)
    client.once('end', () => this.#connected.delete(client))
  }

  /** The server may not be the primary any more: all are asked before the next connection is made. */
  doubt(host: DatabaseHost): void {
    if (this.several && host === this.#primary) this.#trusted = false
  }

  /** This new connection takes no writes. Returns the error to report. */
  refuse(client: pg.Client): NoPrimaryError {
    const host = this.#connected.get(client) ?? this.#primary
    this.demoted(host)
    const reason = 'it is a standby, or default_transaction_read_only is on'
    return new NoPrimaryError(`the database at ${host.host}:${host.port} accepts no writes: ${reason}`)
  }

  /** The server said that it takes no writes: it is now in doubt, and every connection to it is dropped. */
  demoted(host: DatabaseHost): void {
    if (!this.several) return
    this.doubt(host)
    for (const [client, to] of this.#connected) if (to === host) dropConnection(client)
  }

  /** Fails every statement in flight: nothing is expected of these connections any more. */
  cut(): void {
    for (const client of this.#connected.keys()) dropConnection(client)
  }
}

/** Cuts the connection, so that a pool which holds it idle notices as well. */
function dropConnection(client: pg.Client): void {
  connectionOf(client).stream.destroy()
}

/** Internals of a `pg` client: the socket, and the messages as they come. */
export function connectionOf(client: pg.Client): pg.Connection {
  return (client as unknown as { connection: pg.Connection }).connection
}

/**
 * Asks all at once. Once there is an acceptable primary, a server that is silent delays it by `OTHERS_MS`. Both lists are in the
 * order of `hosts`. `findings`: why others do not serve.
 */
async function judgeAll(
  hosts: readonly DatabaseHost[],
  isAcceptable: (primary: Primary) => boolean,
): Promise<{ readonly primaries: readonly Primary[]; readonly findings: readonly string[] }> {
  const judged: (Primary | string)[] = hosts.map(() => 'has not answered')
  const found = Promise.withResolvers<void>()
  const asking = hosts.map(async (host, index) => {
    const finding = await judge(host)
    judged[index] = finding
    if (typeof finding !== 'string' && isAcceptable(finding)) found.resolve()
  })
  await Promise.race([Promise.all(asking), found.promise.then(() => wait(OTHERS_MS))])
  return {
    primaries: judged.filter((finding) => typeof finding !== 'string'),
    findings: judged.flatMap((finding, index) => {
      const { host, port } = hosts[index]!
      return typeof finding === 'string' ? [`${host}:${port} ${finding}`] : []
    }),
  }
}

/** A primary that takes writes, or the reason why it does not serve. */
async function judge(host: DatabaseHost): Promise<Primary | string> {
  const startedAtMs = performance.now()
  const client = new pg.Client({
    connectionString: host.connectionString,
    application_name: 'aldis',
    connectionTimeoutMillis: HOST_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await (client as Queryable).query<Omit<Primary, 'host'> & { isClosed: boolean }>({
      text: STATE,
      query_timeout: Math.max(1, HOST_TIMEOUT_MS - (performance.now() - startedAtMs)),
    })
    const { isClosed, system, timeline } = rows[0]!
    if (timeline === null) return 'is a standby'
    return isClosed ? 'is read-only' : { host, system, timeline }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return `cannot be used (${code ?? message})`
  } finally {
    client.end().catch(() => undefined)
  }
}

/** A standby has no timeline of its own: null. */
const STATE = `
  select current_setting('transaction_read_only')::boolean as "isClosed", s.system_identifier::text as system,
         case when not pg_is_in_recovery()
              then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as timeline
  from pg_control_system() s`
