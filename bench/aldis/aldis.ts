import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type pg from 'pg'
import { type Child, script } from '../children.ts'
import { peakMemoryMib, treeCpuMs, treePids } from '../cpu-times.ts'
import type { Rig } from '../rig.ts'
import type { Subject } from '../subject.ts'
import type { Ledgers } from '../tools/ledgers.ts'
import { RECIPIENTS, TEXT } from '../tools/requests.ts'
import { databaseFaults } from '../totals.ts'
import type { ServiceConfig } from './app-options.ts'
import { makeWalFiles, openDatabase, walBytes } from './database.ts'
import type { ServiceReady } from './service.ts'
import { type Connection, type Customer, linkBound, setUp } from './setup.ts'

/** Aldis as it ships, with its embedded PostgreSQL in the run's folder. */

export interface AldisOptions {
  readonly logLevel: string
  readonly caPem: string | null
  /** Let PostgreSQL count its statements and log some plans. */
  readonly explain: boolean
  readonly carrierPort: number
  readonly window: number
  /** Processes of a node, each with a bind; default 1. */
  readonly workers?: number
  /** Services on one database; default 1. */
  readonly nodes?: number
  readonly callbackUrl: string
  /** Days before today that the tables have partitions for; default 0. */
  readonly pastDays?: number
}

/** Long enough for every process to read changes made through another: they look each second. */
const CONFIGURATION_MS = 2_000

/** Resolves when it is bound to the carrier. */
export async function startAldis(rig: Rig, options: AldisOptions): Promise<Aldis> {
  const operatorToken = randomBytes(24).toString('base64url')
  const { logLevel, caPem, explain, carrierPort, window, workers = 1, nodes = 1, callbackUrl } = options
  const dataDir = join(rig.folder, 'data')
  const startNode = async (nodeName: string, databaseUrl: string | null): Promise<Node> => {
    const same = { dataDir, logLevel, operatorToken, caPem, explain, workers }
    const { pastDays = 0 } = databaseUrl === null ? options : {}
    const config: ServiceConfig = { ...same, nodeName, databaseUrl, pastDays }
    const program = script('aldis/service.ts', JSON.stringify(config))
    const child = rig.child<ServiceReady>(nodeName, program, { logFile: rig.serviceLog })
    return { child, ready: await child.ready() }
  }
  const first = await startNode('bench', null)
  const all = [first]
  for (let nth = 2; nth <= nodes; nth += 1) all.push(await startNode(`bench-${nth}`, first.ready.databaseUrl))
  const connections = all.map(({ ready }) => ({ url: ready.url, operatorToken }))
  const customer = await setUp(connections[0]!, { port: carrierPort, window, binds: workers * nodes })
  await Promise.all(connections.map(linkBound))
  if (workers > 1 || nodes > 1) await rig.pause(CONFIGURATION_MS)
  const db = await openDatabase(first.ready.databaseUrl)
  rig.resources.defer(() => db.end())
  await makeWalFiles(db)
  const forms = messageForms(first.ready.port, customer, callbackUrl)
  return new Aldis(all, connections[0]!, db, customer, forms)
}

/** A service of the run. The first one makes the database. */
interface Node {
  readonly child: Child<ServiceReady>
  readonly ready: ServiceReady
}

export class Aldis implements Subject {
  readonly name = 'Aldis'
  /** The messages are made later. */
  readonly startedMs = Date.now()
  readonly child: Child<ServiceReady>
  readonly ready: ServiceReady
  readonly connection: Connection
  readonly db: pg.Client
  readonly customer: Customer
  readonly forms: readonly string[]

  readonly #nodes: readonly Node[]

  constructor(
    nodes: readonly Node[],
    connection: Connection,
    db: pg.Client,
    customer: Customer,
    forms: readonly string[],
  ) {
    this.#nodes = nodes
    this.child = nodes[0]!.child
    this.ready = nodes[0]!.ready
    this.connection = connection
    this.db = db
    this.customer = customer
    this.forms = forms
  }

  get port(): number {
    return this.ready.port
  }

  get ports(): number[] {
    return this.#nodes.map(({ ready }) => ready.port)
  }

  cpuMs() {
    const { postgresPid } = this.ready
    const ofNodes = this.#nodes.map(({ child }) => treeCpuMs(child.pid, postgresPid))
    return { Aldis: ofNodes.reduce((sum, ms) => sum + ms, 0), PostgreSQL: treeCpuMs(postgresPid) }
  }

  peakMemoryMib(): number {
    const pids = this.#nodes.flatMap(({ child }) => treePids(child.pid, this.ready.postgresPid))
    return pids.reduce((sum, pid) => sum + peakMemoryMib(pid), 0)
  }

  walBytes(): Promise<number> {
    return walBytes(this.db)
  }

  faults({ load }: Ledgers): Promise<string[]> {
    return databaseFaults(load, this.db, this.startedMs)
  }
}

/** Requests for a customer's messages, whose webhooks go to `callbackUrl`. */
export function messageForms(port: number, customer: Customer, callbackUrl: string): string[] {
  const { servicePlanId, token, sender } = customer
  return RECIPIENTS.map((to) => {
    // The places for digits are control characters, which JSON would escape.
    const fields = JSON.stringify({
      servicePlanId,
      channel: 'SMS',
      from: sender,
      callbackUrl,
      to: '',
      body: '',
    })
    const body = fields.replace('"to":"","body":""', `"to":"${to}","body":"${TEXT}"`)
    const head = [
      'POST /v1/sendsms HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ].join('\r\n')
    return `${head}\r\n\r\n${body}`
  })
}
