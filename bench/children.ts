import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** On a busy machine the partitions of 90 days alone take more than a minute. */
const START_TIMEOUT_MS = 180_000
const ANSWER_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 40_000

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface ProcessHooks {
  /** Called when the process ends without being stopped. */
  readonly onExit: (reason: string) => void
  /** Target of its standard error, and of its standard output unless it is a Child; default: inherited. */
  readonly logFile?: string
}

/** A script of the bench, with its path below bench/, run by Node. */
export function script(path: string, ...args: readonly string[]): Program {
  return { command: process.execPath, args: [fileURLToPath(new URL(path, import.meta.url)), ...args] }
}

/** A process of a run. */
export class Process {
  protected readonly process: ChildProcess
  readonly #exited: Promise<void>
  #stopping = false

  constructor(name: string, program: Program, hooks: ProcessHooks, speaks = false) {
    const log = hooks.logFile === undefined ? 'inherit' : openSync(hooks.logFile, 'a')
    this.process = spawn(program.command, program.args, {
      stdio: [speaks ? 'pipe' : 'ignore', speaks ? 'pipe' : log, log],
      env: { ...process.env, NODE_ENV: 'production', ...program.env },
    })
    if (log !== 'inherit') closeSync(log)
    this.#exited = new Promise((resolve) => {
      this.process.once('exit', () => resolve())
      this.process.once('error', () => resolve())
    })
    this.process.once('error', (error) => hooks.onExit(`${name}: ${error.message}`))
    this.process.once('exit', (code, signal) => {
      if (!this.#stopping) hooks.onExit(`${name} ended unexpectedly (${signal ?? `code ${code}`})`)
    })
  }

  /** -1 when it could not be started. */
  get pid(): number {
    return this.process.pid ?? -1
  }

  /** SIGTERM, then SIGKILL; resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true
    const { pid, exitCode, signalCode } = this.process
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    this.process.kill('SIGTERM')
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.#exited
    clearTimeout(timer)
  }
}

export interface ChildHooks extends ProcessHooks {
  readonly onNews?: (value: number) => void
}

/** One line of a child. */
interface Line {
  readonly ready?: unknown
  readonly news?: number
  readonly fault?: string
  readonly value?: unknown
  readonly error?: string
}

/**
 * A process with a line protocol: one command a line on its standard input, JSON on its standard output. It writes
 * `{"ready":…}` once, answers each command that expects it with `{"value":…}` or `{"error":"…"}`, in order, and may write
 * `{"news":N}` or `{"fault":"…"}` at any time. A fault counts as its end. parent.ts and tools/parent.c are the other end.
 */
export class Child<Ready = object> extends Process {
  readonly #name: string
  readonly #questions: PromiseWithResolvers<unknown>[] = []
  readonly #readiness = Promise.withResolvers<Ready>()

  constructor(name: string, program: Program, hooks: ChildHooks) {
    const onExit = (reason: string) => {
      this.#readiness.reject(new Error(reason))
      for (const question of this.#questions.splice(0)) question.reject(new Error(reason))
      hooks.onExit(reason)
    }
    super(name, program, { ...hooks, onExit }, true)
    this.#name = name
    this.#readiness.promise.catch(() => undefined)
    // Writing a command to an ended process fails; the end itself is reported.
    this.process.stdin!.on('error', () => undefined)
    createInterface({ input: this.process.stdout! }).on('line', (text) => {
      const line = JSON.parse(text) as Line
      if (line.news !== undefined) hooks.onNews?.(line.news)
      else if (line.fault !== undefined) hooks.onExit(`${name}: ${line.fault}`)
      else if (line.ready !== undefined) this.#readiness.resolve(line.ready as Ready)
      else this.#answered(line)
    })
  }

  ready(): Promise<Ready> {
    return within(this.#readiness.promise, START_TIMEOUT_MS, `${this.#name} did not start in time`)
  }

  /** A command that has an answer. */
  request<T>(command: string): Promise<T> {
    const question = Promise.withResolvers<unknown>()
    this.#questions.push(question)
    this.tell(command)
    const late = `${this.#name} did not answer in time`
    return within(question.promise as Promise<T>, ANSWER_TIMEOUT_MS, late)
  }

  /** A command that has none. */
  tell(command: string): void {
    this.process.stdin!.write(`${command}\n`)
  }

  #answered({ value, error }: Line): void {
    const question = this.#questions.shift()
    if (error === undefined) question?.resolve(value)
    else question?.reject(new Error(`${this.#name}: ${error}`))
  }
}

async function within<T>(promise: Promise<T>, timeoutMs: number, reason: string): Promise<T> {
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(reason)), timeoutMs)
  try {
    return await Promise.race([promise, expiry])
  } finally {
    clearTimeout(timer)
  }
}
