import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, type ChildHooks, Process, type Program } from './children.ts'
import { Progress } from './progress.ts'
import { type Built, buildTools } from './tools/build.ts'
import { Toolbox } from './tools/tools.ts'

/** The processes of one run: starts them, reports the first fault of any, and stops them. */

const LOG_LINES = 10
/** pino's number for info. */
const INFO = 30

/** The error of a run that was interrupted. */
export const INTERRUPTED = 'interrupted'

export class Rig {
  readonly folder: string
  /** Rejects as soon as something goes wrong; never resolves. */
  readonly fault: Promise<never>
  readonly progress: Progress
  /** Undone when the run ends, the last first. */
  readonly resources = new AsyncDisposableStack()
  readonly #failure = Promise.withResolvers<never>()

  constructor(tempDir: string | null, progress: Progress = new Progress()) {
    this.fault = this.#failure.promise
    this.fault.catch(() => undefined)
    this.progress = progress
    this.folder = mkdtempSync(join(tempDir ?? tmpdir(), 'aldis-bench-'))
    this.resources.defer(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  /** Ends the run: everything that waits for `fault` rejects. */
  fail(reason: string): void {
    this.#failure.reject(new Error(reason))
  }

  /** Starts a process that takes commands. */
  child<Ready>(name: string, program: Program, hooks: Partial<ChildHooks> = {}): Child<Ready> {
    const child = new Child<Ready>(name, program, { onExit: (reason) => this.fail(reason), ...hooks })
    this.resources.defer(() => child.stop())
    return child
  }

  /** Starts a process that only runs; what it prints goes to the log file. */
  process(name: string, program: Program, logFile: string): Process {
    const hooks = { onExit: (reason: string) => this.fail(reason), logFile }
    const process = new Process(name, program, hooks)
    this.resources.defer(() => process.stop())
    return process
  }

  /** `built`: the tools that an earlier run has built. */
  async tools(built?: Built): Promise<Toolbox> {
    const spawn: Toolbox['spawn'] = (name, program, hooks) => this.child(name, program, hooks)
    return new Toolbox(built ?? (await buildTools(this.folder)), this.folder, spawn)
  }

  get serviceLog(): string {
    return join(this.folder, 'service.log')
  }

  /** The service's last log lines above the level info. */
  complaints(): string {
    try {
      const lines = readFileSync(this.serviceLog, 'utf8').split('\n')
      const isComplaint = (line: string) => line !== '' && !line.startsWith(`{"level":${INFO}`)
      return lines.filter(isComplaint).slice(-LOG_LINES).join('\n')
    } catch {
      return ''
    }
  }

  /** Waits. Rejects as soon as something goes wrong. */
  async pause(ms: number): Promise<void> {
    await Promise.race([new Promise((wake) => setTimeout(wake, Math.max(0, ms))), this.fault])
  }

  /** Stops every process, the last started first, and removes the folder. */
  async close(): Promise<void> {
    this.progress.end()
    await this.resources.disposeAsync()
  }
}
