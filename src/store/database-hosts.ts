/**
 * The servers of DATABASE_URL, and which of them is the primary.
 */
import pg from 'pg'
import { databaseAddresses } from '../domain/database-url.ts'
import type { Queryable } from './database.ts'

/** For each of several servers, from the first packet to its answer. */
const HOST_TIMEOUT_MS = 2_000

export interface DatabaseHost {
  readonly host: string
  readonly port: number
  readonly connectionString: string
}

/** No server of DATABASE_URL takes writes now; later one may. */
export class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError'
}

/** Shared by all pools of a process, so that all are on one server. */
export class DatabaseHosts {
  readonly #hosts: readonly DatabaseHost[]
  /** The one that was a primary last. */
  #primary: DatabaseHost
  /** False until it was seen to be one, and again after any trouble with it. */
  #trusted: boolean
  #search: Promise<DatabaseHost> | null = null
  readonly #connected = new Map<pg.Client, DatabaseHost>()

  /** @throws Error for a connection string that is none; the configuration has refused those. */
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
   * Where to connect: the only server, or the one that was the primary last. When that is in doubt, all are asked, it
   * first, whoever needs to know waiting for one search. @throws NoPrimaryError
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

  /** This connection is to that server from now on. */
  connected(client: pg.Client, host: DatabaseHost): void {
    this.#connected.set(client, host)
    client.once('end', () => this.#connected.delete(client))
  }

  /** The server may be the primary no longer: before the next connection is made all are asked. */
  doubt(host: DatabaseHost): void {
    if (this.several && host === this.#primary) this.#trusted = false
  }

  /** This new connection takes no writes. Returns the error that says so. */
  refuse(client: pg.Client): NoPrimaryError {
    const host = this.#connected.get(client) ?? this.#primary
    this.demoted(host)
    const reason = 'it is a standby, or default_transaction_read_only is on'
    return new NoPrimaryError(`the database at ${host.host}:${host.port} accepts no writes: ${reason}`)
  }

  /** The server said that it takes no writes: it is in doubt, and every connection to it is dropped. */
  demoted(host: DatabaseHost): void {
    if (!this.several) return
    this.doubt(host)
    for (const [client, to] of this.#connected) if (to === host) dropConnection(client)
  }
}

/** Cuts it, so that a pool which holds it idle notices as well. */
function dropConnection(client: pg.Client): void {
  connectionOf(client).stream.destroy()
}

/** What `pg` keeps beneath a client: the socket, and the messages as they come. */
export function connectionOf(client: pg.Client): pg.Connection {
  return (client as unknown as { connection: pg.Connection }).connection
}

/** Null for a primary that takes writes, else why it will not do. */
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
