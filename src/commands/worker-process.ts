import { type ChildProcess, fork } from 'node:child_process'
import type { Answer, Assignment, FromWorker, Ports, Question, ToWorker } from './worker-messages.ts'

/** How a worker has ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface WorkerEvents {
  readonly onReplaced: () => void
  /** What the other workers answer to this one. */
  readonly askOthers: (question: Question) => Promise<readonly Answer[]>
}

/** A scrape waits 2 s for the database at most, a receipt for a COMMIT; a worker that takes longer than this is left out. */
const ANSWER_TIMEOUT_MS = 3_000

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
  readonly #asked = new Map<number, (answer: Answer) => void>()
  readonly #answerTimeoutMs: number
  /** Kinds of questions that it has not answered in time, each until its next answer to one of them. */
  readonly #unanswered = new Set<Question['what']>()
  #lastId = 0

  constructor(
    program: string,
    assignment: Assignment,
    events: WorkerEvents,
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  ) {
    this.#answerTimeoutMs = answerTimeoutMs
    this.number = assignment.number
    this.#events = events
    // Metrics have values that JSON does not.
    this.#child = fork(program, ['serve', '--as-worker'], { serialization: 'advanced' })
    this.#settleReady = Promise.withResolvers<Ports>()
    this.ready = this.#settleReady.promise
    this.ready.catch(() => undefined)
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.isReady = false
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
    this.#tell({ kind: 'begin', assignment })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** It drains and ends. */
  stop(): void {
    this.#tell({ kind: 'stop' })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** By kind: a receipt is answered after a COMMIT, which may be slow where everything else is quick. */
  isAnswering(what: Question['what']): boolean {
    return !this.#unanswered.has(what)
  }

  /** Null when it does not answer in time. */
  ask(question: Question): Promise<Answer | null> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve) => {
      const settle = (answer: Answer | null) => {
        clearTimeout(timer)
        this.#asked.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(() => {
        this.#unanswered.add(question.what)
        settle(null)
      }, this.#answerTimeoutMs)
      this.#asked.set(id, settle)
      this.#tell({ kind: 'ask', id, question })
    })
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
      case 'replaced':
        this.#events.onReplaced()
        return
      case 'answer':
        this.#unanswered.delete(message.what)
        this.#asked.get(message.id)?.(message.answer)
        return
      case 'ask-others':
        void this.#events
          .askOthers(message.question)
          .then((answers) => this.#tell({ kind: 'others', id: message.id, answers }))
    }
  }

  /** One that is gone is told nothing; its end is an event of its own. */
  #tell(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
