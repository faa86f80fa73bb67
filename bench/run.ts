import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { createServerCertificate, createTestAuthority } from '../test/support/certificates.ts'
import type { CarrierConfig } from './carrier.ts'
import { Child } from './children.ts'
import { addPastDays, openDatabase } from './database.ts'
import { Load } from './load.ts'
import { describeMachine } from './machine.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { measureAccepts, measureEndToEnd, type Parts } from './phases.ts'
import { selfTimesText } from './profile.ts'
import type { ReceiverConfig } from './receiver.ts'
import { type Figures, figuresText } from './report.ts'
import { requestForms } from './requests.ts'
import type { ServiceConfig, ServiceReady } from './service.ts'
import { type Connection, setUp } from './setup.ts'
import { DatabaseActivity } from './statements.ts'
import { totalFaults } from './totals.ts'
import { measureWebhooks } from './webhooks.ts'

/** Time for everything besides the measured seconds: start, drains, checks, stop. */
const ALLOWANCE_MS = 900_000
const LOG_LINES = 10
/** pino's number for info. */
const INFO = 30

/** One run: processes started, figures taken, totals compared, everything stopped again. */
class Bench {
  readonly #options: BenchOptions
  readonly #resources = new AsyncDisposableStack()
  readonly #fault = Promise.withResolvers<never>()
  readonly #dir: string
  #certificate: ReceiverConfig['tls'] = null

  constructor(options: BenchOptions) {
    this.#options = options
    this.#fault.promise.catch(() => undefined)
    this.#dir = mkdtempSync(join(options.tempDir ?? tmpdir(), 'aldis-bench-'))
    this.#resources.defer(() => rmSync(this.#dir, { recursive: true, force: true }))
    const { seconds, warmUpSeconds, acceptSeconds, webhookSeconds } = options
    const measuredMs = (seconds + warmUpSeconds + acceptSeconds + 4 * webhookSeconds) * 1_000
    const timer = setTimeout(() => this.fail('the run did not end in time'), measuredMs + ALLOWANCE_MS)
    this.#resources.defer(() => clearTimeout(timer))
  }

  /** Ends the run: `run` rejects with this. */
  fail(reason: string): void {
    this.#fault.reject(new Error(reason))
  }

  run(): Promise<Figures> {
    return Promise.race([this.#run(), this.#fault.promise])
  }

  /** Stops every process, the last started first, and removes the folder. */
  async close(): Promise<void> {
    await this.#resources.disposeAsync()
  }

  /** What the service said that was no mere information, its last lines. */
  complaints(): string {
    try {
      const lines = readFileSync(this.#logFile, 'utf8').split('\n')
      return lines
        .filter((line) => line !== '' && !line.startsWith(`{"level":${INFO}`))
        .slice(-LOG_LINES)
        .join('\n')
    } catch {
      return ''
    }
  }

  async #run(): Promise<Figures> {
    const options = this.#options
    const { parts, databaseUrl, connection } = await this.#start()
    const db = await openDatabase(databaseUrl)
    this.#resources.defer(() => db.end())
    await addPastDays(databaseUrl, options.pastDays)
    const machine = await describeMachine(db)
    const endToEnd = options.seconds === 0 ? null : await this.#endToEnd(parts, db)
    const accepts = options.acceptSeconds === 0 ? null : await measureAccepts(parts, options.acceptSeconds)
    const faults = await totalFaults(parts.load.accepted, db, parts.receiver)
    if (faults.length > 0) throw new Error(faults.join('; '))
    const webhooks = options.webhookSeconds === 0 ? null : await this.#measureWebhooks(parts, db, connection)
    return { machine, options, endToEnd, accepts, checked: parts.load.accepted.length, webhooks }
  }

  #endToEnd(parts: Parts, db: pg.Client) {
    const { profile } = this.#options
    return profile === null ? measureEndToEnd(parts, this.#options) : this.#profiled(parts, db, profile)
  }

  async #start(): Promise<{ parts: Parts; databaseUrl: string; connection: Connection }> {
    const { profile, tls, logLevel, window, deliverWindow, throughput, receiptDelayMs, connections } =
      this.#options
    const operatorToken = randomBytes(24).toString('base64url')
    const authority = tls ? await createTestAuthority() : null
    this.#certificate = authority === null ? null : await createServerCertificate(authority, ['127.0.0.1'])
    const config: ServiceConfig = {
      dataDir: join(this.#dir, 'data'),
      logLevel,
      operatorToken,
      caPem: authority?.certPem ?? null,
      explain: profile !== null,
    }
    const onNews = (completed: number) => load?.completed(completed)
    const receiver = this.#spawn<{ port: number }>('receiver', { tls: this.#certificate }, { onNews })
    const carrierConfig: CarrierConfig = { receiptDelayMs, deliverWindow, ...(throughput && { throughput }) }
    const carrier = this.#spawn<{ port: number }>('carrier', carrierConfig)
    const service = this.#spawn<ServiceReady>('service', config, { logFile: this.#logFile })
    const { url, port, postgresPid, databaseUrl } = await service.ready()
    const smpp = { port: (await carrier.ready()).port, window }
    const connection = { url, operatorToken }
    const customer = await setUp(connection, smpp)
    const callbackUrl = `${await this.#originOf(receiver)}/receipts`
    const request = requestForms({ port, callbackUrl, ...customer })
    const load: Load = new Load({ port, connections, request, onFault: (reason) => this.fail(reason) })
    await load.connect()
    this.#resources.defer(() => load.close())
    const fault = this.#fault.promise
    return { parts: { service, postgresPid, carrier, receiver, load, fault }, databaseUrl, connection }
  }

  async #measureWebhooks({ service, postgresPid, fault }: Parts, db: pg.Client, connection: Connection) {
    const openReceiver = async (hangs: boolean) => {
      const config: ReceiverConfig = { tls: this.#certificate, hangs }
      const child = this.#spawn<{ port: number }>('receiver', config)
      return { child, origin: await this.#originOf(child) }
    }
    const { port } = await service.ready()
    const onFault = (reason: string) => this.fail(reason)
    const bench = { connection, port, servicePid: service.pid, postgresPid, db, openReceiver, onFault, fault }
    return await measureWebhooks(bench, this.#options.webhookSeconds)
  }

  async #originOf(receiver: Child<{ port: number }>): Promise<string> {
    return `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${(await receiver.ready()).port}`
  }

  #spawn<Ready>(
    name: string,
    config: object,
    more: { onNews?: (value: number) => void; logFile?: string } = {},
  ): Child<Ready> {
    const child = new Child<Ready>(name, config, { onExit: (reason) => this.fail(reason), ...more })
    this.#resources.defer(() => child.stop())
    return child
  }

  get #logFile(): string {
    return join(this.#dir, 'service.log')
  }

  /** The end-to-end run with the service's CPU profile and PostgreSQL's own figures beside it. */
  async #profiled(parts: Parts, db: pg.Client, folder: string) {
    const activity = new DatabaseActivity(db)
    let profile: object = {}
    const endToEnd = await measureEndToEnd(parts, {
      ...this.#options,
      onStart: async () => {
        await activity.start()
        await parts.service.request('startProfile')
      },
      onEnd: async () => {
        profile = await parts.service.request<object>('stopProfile')
        await activity.stop()
      },
    })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'aldis.cpuprofile'), JSON.stringify(profile))
    copyFileSync(join(this.#dir, 'data', 'postgres.log'), join(folder, 'plans.log'))
    process.stdout.write(`${selfTimesText(profile)}\n${activity.text(endToEnd.messages)}\n`)
    return endToEnd
  }
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options === null) return
  const bench = new Bench(options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => bench.fail('interrupted'))
  try {
    const figures = await bench.run()
    process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : figuresText(figures))
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`error: no figures: ${(error as Error).message}\n`)
  }
  const complaints = bench.complaints()
  if (complaints !== '') process.stderr.write(`The service complained:\n${complaints}\n`)
  await bench.close()
}

await main().catch((error: Error) => {
  process.exitCode = 1
  process.stderr.write(`error: ${error.message}\n`)
})
