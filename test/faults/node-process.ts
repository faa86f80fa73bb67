/** A node of the service as a process: `aldis serve`, killed and started again under its name. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { cleanEnvironment, MAIN, NODE_COMPILE_CACHE } from '../support/process.ts'
import { holdsWithin } from './clock.ts'

const START_MS = 60_000
const END_MS = 60_000
const PROBE_MS = 1_000

/** All of them, so that none outlives the harness, however it ends. */
const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

export class NodeProcess {
  readonly index: number
  readonly baseUrl: string
  /** What the next start runs. */
  main = MAIN
  readonly #env: NodeJS.ProcessEnv
  readonly #logFile: string
  #child: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()

  constructor(index: number, port: number, env: NodeJS.ProcessEnv, logFile: string) {
    this.index = index
    this.baseUrl = `http://127.0.0.1:${port}`
    this.#env = { ...env, HTTP_PORT: String(port), NODE_ID: `node-${index}`, NODE_COMPILE_CACHE }
    this.#logFile = logFile
  }

  /** 0: it does not run. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Starts it without waiting for it. @param env additional variables for this start */
  spawn(env: NodeJS.ProcessEnv = {}): void {
    const log = openSync(this.#logFile, 'a')
    const child = spawn(process.execPath, [this.main, 'serve'], {
      stdio: ['ignore', log, log],
      env: cleanEnvironment({ ...this.#env, ...env }),
    })
    closeSync(log)
    this.#child = child
    alive.add(child)
    this.#ended = new Promise((resolve) => {
      const end = () => {
        alive.delete(child)
        if (this.#child === child) this.#child = null
        resolve()
      }
      child.once('exit', end)
      child.once('error', end)
    })
  }

  /** Starts it and waits until it takes requests. Restarts it if it ends while its database is away. */
  async start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    const isUp = await holdsWithin(START_MS, async () => {
      if (this.pid === 0) this.spawn(env)
      return await this.#isOpen()
    })
    if (!isUp) throw new Error(`node ${this.index} did not start within ${START_MS} ms: see ${this.#logFile}`)
  }

  async #isOpen(): Promise<boolean> {
    const response = await fetch(`${this.baseUrl}/readyz`, { signal: AbortSignal.timeout(PROBE_MS) })
    const { checks } = (await response.json()) as { checks: Record<string, string> }
    return checks.start === undefined
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  /** Sends SIGTERM and waits for its drain; false: it had to be killed. */
  async terminate(): Promise<boolean> {
    this.signal('SIGTERM')
    const hasEnded = await holdsWithin(END_MS, () => this.pid === 0)
    if (!hasEnded) await this.kill()
    return hasEnded
  }
}
