/**
 * Runs `holder.ts`, and looks at the server processes it leaves.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./holder.ts', import.meta.url))

interface Line {
  readonly connectionString?: string
  readonly port?: number
  readonly code?: string
  readonly message?: string
  readonly heard?: string
  readonly stopped?: boolean
}

export interface Holder {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** The next line it prints. */
  line(): Promise<Line>
}

/** A data directory with a space in its path, below a directory of mode 0700, and its removal. */
export function scratchDirectory() {
  const parent = mkdtempSync(join(tmpdir(), 'aldis postgres-'))
  return {
    path: join(parent, 'data dir'),
    [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }),
  }
}

/**
 * The same for all tests of a file. The first start makes the cluster, which takes more than all the rest of a test; each
 * test stops its server, and leaves settings as they were.
 */
export function directoryOfFile(): { readonly path: string } {
  const directory = scratchDirectory()
  afterAll(() => directory[Symbol.dispose]())
  return directory
}

/** Keeps a row in a table of its own. */
export async function keepOne(connectionString: string): Promise<void> {
  await query(connectionString, 'drop table if exists kept')
  await query(connectionString, 'create table kept as select 1 as one')
}

export function hold(dataDir: string, env: NodeJS.ProcessEnv = process.env): Holder {
  const child = spawn(process.execPath, [PROGRAM, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env,
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the holder ended without a line')
    return JSON.parse(value as string) as Line
  }
  return { child, line }
}

/** Ends it by closing its standard input, and waits until it is gone. */
export async function release({ child }: Holder): Promise<void> {
  const exited = once(child, 'exit')
  child.stdin.end()
  await exited
}

export async function killed({ child }: Holder): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

export async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connectionString)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Process id of the server of `dataDir`, from postmaster.pid. */
export function postmasterOf(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8'), 10)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
