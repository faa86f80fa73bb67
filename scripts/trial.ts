/** Real programs that a trial starts in a folder of its own, and what it waits for and asks of them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export const ALDIS = join(import.meta.dirname, '../src/main.ts')
const DEADLINE_MS = 60_000

/** What `aldis dev` says once it is ready. */
export interface Ready {
  readonly baseUrl: string
  readonly accountId: string
  readonly servicePlanId: string
  readonly token: string
  readonly operatorToken: string
  readonly databaseUrl: string
}

export class Trial {
  readonly folder: string
  readonly #children: ChildProcess[] = []

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `aldis-${name}-`))
  }

  /** Runs a program in the folder until the end of the trial. */
  run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(program, args, {
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    })
    child.once('error', (error) => process.stderr.write(`${error.message}\n`))
    this.#children.push(child)
    return child
  }

  /** Starts `aldis dev` with data of its own. */
  async startDev(name: string): Promise<Ready & { readonly child: ChildProcess }> {
    const file = `${name}.json`
    const args = [ALDIS, 'dev', '--port', '0', '--data-dir', name, '--ready-file', file]
    const child = this.run(process.execPath, args)
    const read = async () => JSON.parse(readFileSync(join(this.folder, file), 'utf8')) as Ready
    return { ...(await until('aldis dev', read)), child }
  }

  async close(): Promise<void> {
    for (const child of this.#children.reverse()) await stop(child)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  if (child.exitCode === null && child.kill()) await ended
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Repeats `look` until it returns something. */
export async function until<Value>(what: string, look: () => Promise<Value | null>): Promise<Value> {
  const deadlineMs = Date.now() + DEADLINE_MS
  while (Date.now() < deadlineMs) {
    const value = await look().catch(() => null)
    if (value !== null) return value
    await wait(500)
  }
  throw new Error(`${what} took longer than ${DEADLINE_MS / 1_000} s`)
}
