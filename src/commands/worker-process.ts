import { type ChildProcess, fork } from 'node:child_process'
import type { Answer, Assignment, FromWorker, Ports, Question, ToWorker } from './worker-messages.ts'

/** How a worker has ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface WorkerEvents {
  /** It must not run any more. */
  readonly onBarred: (reason: string) => void
  /** Returns the answers of the other workers. */
  readonly askOthers: (question: Question) => Promise<readonly Answer[]>
}

/**
 * A worker that is silent for this long is left out. A scrape waits for the database for 2 s at most. A receipt waits for
 * its COMMIT, and the worker says that it is working meanwhile.
 */
const ANSWER_TIMEOUT_MS = 3_000
/**
 * A worker that has been working for this long is left out too, because only its lane may be stuck. When the database
 * stalls, a worker gives up on receipts after 10 s, and says so before this time is over.
 */
const WORKING_TIMEOUT_MS = 12_000

/** A question that waits for its answer. */
interface Asked {
  readonly resolve: (answer: Answer | null) => void
  readonly timer: NodeJS.Timeout
  /** Monotonic clock. */
  readonly sinceMs: number
}

/** One worker: this program again, as a process whose node shares the ports. It ends when this process does. */
export class WorkerProcess {
  readonly number: number
  /** Rejects with why it could not start. */
  readonly ready: Promise<Ports>
  readonly ended: Promise<WorkerEnd>
  isReady = false
  readonly #child: ChildProcess
  readonly #events: WorkerEvents
  readonly #settleReady: PromiseWithResolvers<Ports>
  readonly #asked = new Map<number, Asked>()
  readonly #answerTimeoutMs: number
  readonly #workingTimeoutMs: number
  /** Kinds of questions that it has not answered in time. The next answer to one of a kind removes the kind. */
  readonly #unanswered = new Set<Question['what']>()
  #lastId = 0

  constructor(
    program: string,
    assignment: Assignment,
    events: WorkerEvents,
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
    workingTimeoutMs = WORKING_TIMEOUT_MS,
  ) {
    this.#answerTimeoutMs = answerTimeoutMs
    this.#workingTimeoutMs = workingTimeoutMs
    this.number = assignment.number
    this.#events = events
    // JSON has no form for some values of metrics.
    this.#child = fork(program, ['serve', '--as-worker'], { serialization: 'advanced' })
    this.#settleReady = Promise.withResolvers<Ports>()
    this.ready = this.#settleReady.promise
    this.ready.catch(() => undefined)
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.isReady = false
        for (const id of this.#asked.keys()) this.#settle(id, null)
        this.#settleReady.reject(
          new Error(`worker ${this.number} has ended (${signal ?? code}) in its start`),
        )
        resolve({ code, signal })
      }
      this.#child.once('exit', end)
      this.#child.once('error', (error) => {
        this.#settleReady.reject(error)
        if (this.#child.pid === undefined) end(null, null)
      })
    })
    this.#child.on('message', (message) => this.#take(message as FromWorker))
    this.#send({ kind: 'begin', assignment })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Makes it drain and end. */
  stop(): void {
    this.#send({ kind: 'stop' })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** By kind, because a worker may be late with one kind alone. */
  isAnswering(what: Question['what']): boolean {
    return !this.#unanswered.has(what)
  }

  /** Resolves to null when the worker is silent or working for too long, or ends. */
  ask(question: Question): Promise<Answer | null> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#unanswered.add(question.what)
        this.#settle(id, null)
      }, this.#answerTimeoutMs)
      this.#asked.set(id, { resolve, timer, sinceMs: performance.now() })
      this.#send({ kind: 'ask', id, question })
    })
  }

  #wait(id: number): void {
    const asked = this.#asked.get(id)
    const leftMs = this.#workingTimeoutMs - this.#answerTimeoutMs
    if (asked !== undefined && performance.now() - asked.sinceMs < leftMs) asked.timer.refresh()
  }

  #settle(id: number, answer: Answer | null): void {
    const asked = this.#asked.get(id)
    if (asked === undefined) return
    clearTimeout(asked.timer)
    this.#asked.delete(id)
    asked.resolve(answer)
  }

  #take(message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        this.isReady = true
        this.#settleReady.resolve(message.ports)
        return
      case 'failed':
        this.#settleReady.reject(new Error(message.reason))
        return
      case 'barred':
        this.#events.onBarred(message.reason)
        return
      case 'answer':
        this.#unanswered.delete(message.what)
        this.#settle(message.id, message.answer)
        return
      case 'working':
        this.#wait(message.id)
        return
      case 'ask-others':
        void this.#events
          .askOthers(message.question)
          .then((answers) => this.#send({ kind: 'others', id: message.id, answers }))
    }
  }

  /** Does nothing if the worker has gone. `ended` reports that. */
  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
