import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const START_TIMEOUT_MS = 60_000
const ANSWER_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 40_000

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** A process of the bench. It says `{ ready }` once, answers requests, and may send news of its own. */
export class Child<Ready> {
  readonly #name: string
  readonly #process: ChildProcess
  readonly #answers = new Map<number, (answer: Answer) => void>()
  readonly #exited: Promise<void>
  readonly #readiness = Promise.withResolvers<Ready>()
  #lastId = 0
  #stopping = false

  constructor(name: string, config: object, hooks: ChildHooks) {
    this.#name = name
    const log = hooks.logFile === undefined ? null : openSync(hooks.logFile, 'w')
    this.#process = spawn(process.execPath, [script(name), JSON.stringify(config)], {
      stdio: ['ignore', 'inherit', log ?? 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    if (log !== null) closeSync(log)
    this.#exited = new Promise((resolve) => this.#process.once('exit', () => resolve()))
    this.#process.once('error', (error) => hooks.onExit(`${name}: ${error.message}`))
    this.#process.once('exit', (code, signal) => {
      const reason = `${name} ended unexpectedly (${signal ?? `code ${code}`})`
      this.#readiness.reject(new Error(reason))
      if (!this.#stopping) hooks.onExit(reason)
    })
    this.#process.on('message', (message: { ready?: Ready; news?: number } & Partial<Answer>) => {
      if (message.ready !== undefined) this.#readiness.resolve(message.ready)
      else if (message.news !== undefined) hooks.onNews?.(message.news)
      else if (message.id !== undefined) this.#answers.get(message.id)?.(message as Answer)
    })
  }

  get pid(): number {
    return this.#process.pid ?? -1
  }

  ready(): Promise<Ready> {
    return within(this.#readiness.promise, START_TIMEOUT_MS, `${this.#name} did not start in time`)
  }

  async request<T>(kind: string, argument?: unknown): Promise<T> {
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#answers.set(id, ({ value, error }) => {
      if (error === undefined) resolve(value as T)
      else reject(new Error(`${this.#name}: ${error}`))
    })
    this.#process.send({ id, kind, argument })
    try {
      return await within(promise, ANSWER_TIMEOUT_MS, `${this.#name} did not answer in time`)
    } finally {
      this.#answers.delete(id)
    }
  }

  /** SIGTERM, then SIGKILL; resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGTERM')
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.#exited
    clearTimeout(timer)
  }
}

export interface ChildHooks {
  /** Told when the process ends without being stopped. */
  readonly onExit: (reason: string) => void
  readonly onNews?: (value: number) => void
  /** Where its standard error goes; inherited when left out. */
  readonly logFile?: string
}

function script(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url))
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
