/**
 * The servers of DATABASE_URL, and which of them is the primary.
 */
import pg from 'pg'
import { databaseAddresses } from '../database-url.ts'
import { NoPrimaryError, type Queryable } from './database.ts'

/** Bound for each of several servers, from the first packet to its answer. */
const HOST_TIMEOUT_MS = 2_000

export interface DatabaseHost {
  readonly host: string
  readonly port: number
  readonly connectionString: string
}

/** Shared by all pools of a process, so that all are on one server. */
export class DatabaseHosts {
  readonly #hosts: readonly DatabaseHost[]
  /** The server that was last seen to be the primary. */
  #primary: DatabaseHost
  /** False until it was seen to be the primary, and again after any trouble with it. */
  #trusted: boolean
  #search: Promise<DatabaseHost> | null = null
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
    return this.several ? this.#hosts.length * HOST_TIMEOUT_MS : 0
  }

  /** The server that new connections go to. */
  get primary(): DatabaseHost {
    return this.#primary
  }

  /**
   * Where to connect: the only server, or the last known primary. When that is in doubt, all servers are asked, starting
   * with it. Whoever needs the answer waits for the same search. @throws NoPrimaryError
   */
  find(): Promise<DatabaseHost> {
    if (this.#trusted) return Promise.resolve(this.#primary)
    this.#search ??= this.#ask().finally(() => {
      this.#search = null
    })
    return this.#search
  }

  async #ask(): Promise<DatabaseHost> {
    const findings: string[] = []
    for (const host of new Set([this.#primary, ...this.#hosts])) {
      const finding = await judge(host)
      if (finding === null) {
        this.#primary = host
        this.#trusted = true
        return host
      }
      findings.push(`${host.host}:${host.port} ${finding}`)
    }
    throw new NoPrimaryError(`no server of DATABASE_URL is a primary: ${findings.join(', ')}`)
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

/** Null for a primary that takes writes; otherwise the reason why it does not serve. */
async function judge({ connectionString }: DatabaseHost): Promise<string | null> {
  const startedAtMs = performance.now()
  const client = new pg.Client({
    connectionString,
    application_name: 'aldis',
    connectionTimeoutMillis: HOST_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await (client as Queryable).query<{ standby: boolean; closed: boolean }>({
      text: `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as closed`,
      query_timeout: Math.max(1, HOST_TIMEOUT_MS - (performance.now() - startedAtMs)),
    })
    const { standby, closed } = rows[0]!
    if (standby) return 'is a standby'
    return closed ? 'is read-only' : null
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return `cannot be used (${code ?? message})`
  } finally {
    client.end().catch(() => undefined)
  }
}
