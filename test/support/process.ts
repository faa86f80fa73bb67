/**
 * Real child processes: `aldis …` as a person starts it, with a hard end for whatever goes wrong.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { eventually, type Met } from './eventually.ts'
import { httpRequest } from './http-client.ts'

/** The checkout the tests are in. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const SOURCE = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** The same in a few files (program.ts), where the run of the tests has made them. */
export const MAIN = process.env.TEST_PROGRAM ?? SOURCE
/** Node keeps the compiled sources of this checkout here: a process that finds them needs half the CPU to start. */
export const NODE_COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'aldis-tests')
/** Room for young objects from the start: collecting them takes a tenth of the CPU of a process that lives for seconds. */
export const YOUNG_ROOM = '--min-semi-space-size=16'
/** Longest life of any child; SIGKILL ends it. */
const MAX_LIFE_MS = 300_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<Exit>
  readonly hasExited: boolean
  /** Writes to its standard input; with `end` it is over then. */
  write(text: string, end?: 'end'): void
  kill(signal: NodeJS.Signals): void
  /** SIGKILL to it and everything it started (its process group). */
  killGroup(): void
  /** Resolves when `condition` holds; rejects when the process has ended before, or after `deadlineMs`. */
  until<T>(condition: () => T | Promise<T>, deadlineMs?: number): Promise<Met<T>>
  [Symbol.asyncDispose](): Promise<void>
}

/** The environment without what would configure an Aldis, and with what is given. */
export function cleanEnvironment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own =
    /^(ALDIS_|DATABASE_|HTTP_|WEBHOOK_|SECRET_KEY|OPERATOR_|CARRIERS_STOPPED$|LOG_LEVEL$|OTEL_|DATA_DIR$|BASE_URL$|NODE_ID$|WORKERS$)/
  const inherited = Object.entries(process.env).filter(([name]) => !own.test(name) && name !== 'NODE_OPTIONS')
  return { ...Object.fromEntries(inherited), ...env }
}

/** Starts `aldis` with these arguments, from source, in a process group of its own. */
export function startAldis(args: readonly string[], options: SpawnOptions = {}): Running {
  const env = { NODE_COMPILE_CACHE, ...options.env }
  return start(process.execPath, [YOUNG_ROOM, MAIN, ...args], { ...options, env })
}

/** Runs `aldis` to its end, with `stdin` as its whole standard input. */
export async function runAldis(
  args: readonly string[],
  { stdin, ...options }: SpawnOptions & { stdin?: string } = {},
): Promise<Exit> {
  await using running = startAldis(args, options)
  if (stdin !== undefined) running.write(stdin, 'end')
  return await running.exited
}

export function start(command: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const child = spawn(command, args, {
    stdio: 'pipe',
    ...options,
    detached: true,
    env: cleanEnvironment(options.env),
  })
  return new RunningChild(child)
}

export const CTRL_C = '\x03'

/** Starts a command at a terminal of its own, where what is written to it is typed. Its exit code is the command's. */
export function startInTerminal(command: string, options: SpawnOptions = {}): Running {
  // Its lines end as they do in a pipe.
  const shell = `stty -onlcr && exec ${command}`
  const script = ['script', '--quiet', '--return', '--command', shell, '/dev/null']
  // If the tests are killed, script sees the end of its input again and again, which takes a whole core.
  return start('timeout', ['--signal=KILL', `${MAX_LIFE_MS / 1_000}`, ...script], options)
}

class RunningChild implements Running {
  readonly #child: ChildProcess
  readonly exited: Promise<Exit>
  stdout = ''
  stderr = ''
  hasExited = false

  constructor(child: ChildProcess) {
    this.#child = child
    const fuse = setTimeout(() => this.killGroup(), MAX_LIFE_MS)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    child.stdin?.on('error', () => undefined)
    const { promise, resolve, reject } = Promise.withResolvers<Exit>()
    this.exited = promise
    promise.catch(() => undefined)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(fuse)
      this.hasExited = true
      resolve({ code, signal, stdout: this.stdout, stderr: this.stderr })
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  write(text: string, end?: 'end'): void {
    if (end === undefined) this.#child.stdin!.write(text)
    else this.#child.stdin!.end(text)
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  killGroup(): void {
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {
      // Everything of it has ended.
    }
  }

  until<T>(condition: () => T | Promise<T>, deadlineMs?: number): Promise<Met<T>> {
    return eventually(async () => {
      const value = await condition()
      if (!value && this.hasExited) throw new Error(`it has ended\n${this.stdout}\n${this.stderr}`)
      return value
    }, deadlineMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killGroup()
    await this.exited.catch(() => undefined)
  }
}

export interface Scratch {
  readonly path: string
  [Symbol.dispose](): void
}

/** A folder of its own, gone again on disposal. */
export function scratchFolder(): Scratch {
  const path = mkdtempSync(join(tmpdir(), 'aldis process-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** What `--ready-file` holds. */
export interface Ready {
  readonly baseUrl: string
  readonly accountId: string
  readonly servicePlanId: string
  readonly token: string
  readonly operatorToken: string
  readonly sender: string
  readonly inboundNumber: string
  readonly databaseUrl: string
}

/** `aldis dev` on this folder, once it answers. */
export async function startDev(
  folder: string,
  args: readonly string[] = [],
): Promise<{ running: Running; ready: Ready; dataDir: string } & AsyncDisposable> {
  const dataDir = join(folder, 'data')
  const readyFile = join(folder, 'ready.json')
  const running = startAldis([
    'dev',
    '--port',
    '0',
    '--data-dir',
    dataDir,
    '--ready-file',
    readyFile,
    ...args,
  ])
  try {
    await running.until(() => running.stdout.includes('Aldis is ready.'))
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready
  return { running, ready, dataDir, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

/** The PostgreSQL processes that work on the embedded database of this folder. Linux only. */
export function serverProcesses(postgresDir: string): number[] {
  const link = join(postgresDir, 'cluster')
  if (!existsSync(link)) return []
  const cluster = realpathSync(link)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          readlinkSync(`/proc/${pid}/cwd`) === cluster &&
          readlinkSync(`/proc/${pid}/exe`).endsWith('/postgres')
        )
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Below those that Linux gives to outgoing connections, which would take it while nobody listens. */
const FIRST_PORT = 15_000
const LAST_PORT = 30_000

/** A port that was free a moment ago, for what must know its port before it starts, or starts again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  readonly json: any
}

type Access = Pick<Ready, 'baseUrl' | 'token' | 'servicePlanId' | 'sender'>

/** POST /v1/sendsms with the fields that are not given filled in. */
export async function send(ready: Access, fields: Record<string, unknown> = {}): Promise<ApiAnswer> {
  const { servicePlanId, sender } = ready
  const body = { servicePlanId, channel: 'SMS', from: sender, to: '+15551230001', body: 'Hello', ...fields }
  return await answered(`${ready.baseUrl}/v1/sendsms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** GET /v1/messages/sms/{msgId}. */
export async function lookUp(ready: Access, msgId: string): Promise<ApiAnswer> {
  const url = `${ready.baseUrl}/v1/messages/sms/${msgId}?servicePlanId=${ready.servicePlanId}`
  return await answered(url, { headers: { authorization: `Bearer ${ready.token}` } })
}

async function answered(...request: Parameters<typeof httpRequest>): Promise<ApiAnswer> {
  const { status, headers, text } = await httpRequest(...request)
  return { status, headers, json: JSON.parse(text) }
}

/** An account with a complete plan, sender and token, whose carrier is at `smppPort`. */
export async function provision(
  service: { baseUrl: string; operatorToken: string },
  smppPort: number,
  carrier: Record<string, unknown> = {},
): Promise<Ready> {
  const connection = { url: service.baseUrl, operatorToken: service.operatorToken }
  const create = async (path: string, body: object, method = 'POST') =>
    (await requestAdmin(connection, method, path, body)) as Record<string, string>
  const { accountId } = await create('/accounts', { name: 'Example' })
  await create('/carriers', {
    name: 'carrier',
    host: '127.0.0.1',
    port: smppPort,
    systemId: 'esme',
    password: 'secret',
    ...carrier,
  })
  await create('/routes', { name: 'route', carriers: [{ carrier: 'carrier' }] })
  const { servicePlanId } = await create('/service-plans', { accountId, name: 'Plan', route: 'route' })
  await create(`/service-plans/${servicePlanId}/senders/Example`, { status: 'approved' }, 'PUT')
  const { token } = await create('/tokens', { accountId, name: 'Token' })
  return {
    ...service,
    accountId: accountId!,
    servicePlanId: servicePlanId!,
    token: token!,
    sender: 'Example',
    inboundNumber: '',
    databaseUrl: '',
  }
}

/** Secrets of a production configuration; the rest of it has defaults. */
export const SERVE_SECRETS = {
  SECRET_KEY: '5e'.repeat(32),
  OPERATOR_TOKEN: 'operator-token-of-a-test-with-enough-characters',
}

export interface Served extends AsyncDisposable {
  readonly running: Running
  readonly baseUrl: string
  readonly operatorToken: string
}

/** `aldis serve` with these variables, once it is ready; on a free port of the loopback address unless told otherwise. */
export async function startServe(env: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<Served> {
  const running = startAldis(['serve', ...args], {
    env: { HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', ...SERVE_SECRETS, ...env },
  })
  try {
    const baseUrl = await running.until(
      () => /"url":"([^"]+)","msg":"aldis is ready"/.exec(running.stderr)?.[1],
    )
    const operatorToken = SERVE_SECRETS.OPERATOR_TOKEN
    return { running, baseUrl, operatorToken, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
}
