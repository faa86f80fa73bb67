import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Answer, Assignment, Ports, Question } from './worker-messages.ts'
import { type WorkerEnd, WorkerProcess } from './worker-process.ts'

export interface WorkersOptions {
  /** The file of this program. */
  readonly program: string
  readonly config: Config
  readonly databaseUrl: string
  /** Worker n is the node `nodeName`/n, and takes the place of its predecessor at once. */
  readonly nodeName: string
  readonly log: Logger
  /** Called when the workers cannot go on. */
  readonly fail: (reason: string) => void
}

/** A worker that lived this long did not fail at its start. */
const STEADY_MS = 60_000
/** Pause before the second start in a row. It doubles with each further start. */
const BACK_OFF_MS = 1_000
const MOST_BACK_OFF_MS = 30_000
/** After this many ends in a row, if no other worker runs, this process ends too, so that its supervisor notices. */
const MOST_FAILURES = 5
/** A worker that is still alive this long after the time to drain hangs: it should have ended itself. */
const HANGING_MS = 10_000

/** The workers of `aldis serve --workers N`. A worker that ends is started again. All are stopped together. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #workers = new Map<number, WorkerProcess>()
  readonly #failures = new Map<number, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #ends = new Set<Promise<void>>()
  #ports: Ports | null = null
  #state: 'starting' | 'running' | 'stopping' = 'starting'
  #unclean = false

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  /**
   * The first worker brings the schema up to date and shows whether the service can start. Then the others start.
   * If one cannot start, all are stopped. @throws Error in one line
   */
  async start(): Promise<Ports> {
    const { workers, httpPort, operatorPort = null, carriersStopped } = this.#options.config
    try {
      const first = { number: 1, httpPort, operatorPort, carriersStopped, listensFirst: true }
      this.#ports = await this.#launch(first).ready
      const others = Array.from({ length: workers - 1 }, (_, index) => this.#launchAgain(index + 2).ready)
      await Promise.all(others)
    } catch (error) {
      await this.stop()
      throw error
    }
    if (this.#state === 'starting') this.#state = 'running'
    // Workers that ended while others started.
    for (let number = 1; number <= workers; number += 1)
      if (!this.#workers.has(number)) this.#restart(number, 0)
    return this.#ports
  }

  /** Drains all at once. Resolves when all have ended: to false when one did not end cleanly. */
  async stop(): Promise<boolean> {
    this.#state = 'stopping'
    for (const timer of this.#timers) clearTimeout(timer)
    for (const worker of this.#workers.values()) worker.stop()
    const hanging = setTimeout(() => this.kill(), this.#options.config.drainTimeoutMs + HANGING_MS)
    await Promise.all(this.#ends)
    clearTimeout(hanging)
    return !this.#unclean
  }

  kill(): void {
    for (const worker of this.#workers.values()) worker.kill()
  }

  /** Starts a worker that listens where the others do. */
  #launchAgain(number: number): WorkerProcess {
    const { port: httpPort, operatorPort } = this.#ports!
    return this.#launch({ number, httpPort, operatorPort, carriersStopped: false, listensFirst: false })
  }

  #launch(given: Omit<Assignment, 'workers' | 'nodeName' | 'databaseUrl'>): WorkerProcess {
    const { program, config, databaseUrl, nodeName, fail } = this.#options
    const { number } = given
    const { workers } = config
    const worker = new WorkerProcess(
      program,
      { ...given, workers, databaseUrl, nodeName: `${nodeName}/${number}` },
      {
        onBarred: fail,
        askOthers: (question) => this.#askAllBut(number, question),
      },
    )
    const startedAtMs = performance.now()
    this.#workers.set(number, worker)
    const end = worker.ended.then((how) => {
      this.#ends.delete(end)
      this.#workers.delete(number)
      this.#ended(worker, how, performance.now() - startedAtMs)
    })
    this.#ends.add(end)
    return worker
  }

  #ended({ number }: WorkerProcess, { code, signal }: WorkerEnd, livedMs: number): void {
    if (this.#state === 'stopping') {
      if (code !== 0) this.#unclean = true
      return
    }
    this.#options.log.error({ worker: number, code, signal }, 'a worker has ended')
    if (this.#state === 'running') this.#restart(number, livedMs)
  }

  #restart(number: number, livedMs: number): void {
    const { log, fail } = this.#options
    const failures = livedMs >= STEADY_MS ? 0 : (this.#failures.get(number) ?? 0) + 1
    this.#failures.set(number, failures)
    if (failures > MOST_FAILURES && ![...this.#workers.values()].some(({ isReady }) => isReady)) {
      fail('no worker runs, and none can be started')
      return
    }
    const delayMs = failures === 0 ? 0 : Math.min(BACK_OFF_MS * 2 ** (failures - 1), MOST_BACK_OFF_MS)
    log.info({ worker: number, delayMs }, 'restarting the worker')
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#launchAgain(number).ready.catch((error) =>
        log.error({ worker: number, reason: error.message }, 'a worker could not start'),
      )
    }, delayMs)
    this.#timers.add(timer)
  }

  /**
   * Asks the workers that answered the last question of this kind in time, so that nobody waits for a worker that hangs.
   * All workers are told of a change of the configuration.
   */
  async #askAllBut(number: number, question: Question): Promise<readonly Answer[]> {
    const others = [...this.#workers.values()].filter(
      (worker) =>
        worker.number !== number &&
        worker.isReady &&
        (question.what === 'refresh' || worker.isAnswering(question.what)),
    )
    const answers = await Promise.all(others.map((worker) => worker.ask(question)))
    return answers.filter((answer) => answer !== null)
  }
}
