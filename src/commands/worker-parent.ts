import type { App } from '../app/start.ts'
import type { Stopped } from './running.ts'
import type { Answer, FromWorker, Question, ToWorker } from './worker-messages.ts'

/** How often this process says that it is still working on receipts. */
const WORKING_MS = 1_000
/** Longer than the parent waits for the others. A parent that stands still would hold up receipts for ever. */
const OTHERS_TIMEOUT_MS = 15_000

/** The process that started this one. */
export class Parent {
  app: App | null = null
  readonly #asked = new Map<number, (answers: readonly Answer[]) => void>()
  readonly #othersTimeoutMs: number
  #lastId = 0

  constructor(stopped: Pick<Stopped, 'stop'>, othersTimeoutMs = OTHERS_TIMEOUT_MS) {
    this.#othersTimeoutMs = othersTimeoutMs
    process.on('message', (message) => void this.#take(message as ToWorker, stopped))
    // Without its parent nobody would stop this process, which would keep its share of the connections.
    process.on('disconnect', () => {
      for (const id of this.#asked.keys()) this.#settle(id, [])
      stopped.stop()
    })
    if (!process.connected) stopped.stop()
  }

  send(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }

  /** Returns the answers that come in time: none if the parent stands still. It gives up a worker that is silent for 3 s. */
  askOthers(question: Question): Promise<readonly Answer[]> {
    if (!process.connected) return Promise.resolve([])
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve } = Promise.withResolvers<readonly Answer[]>()
    const timer = setTimeout(() => this.#settle(id, []), this.#othersTimeoutMs).unref()
    this.#asked.set(id, (answers) => {
      clearTimeout(timer)
      resolve(answers)
    })
    this.send({ kind: 'ask-others', id, question })
    return promise
  }

  /** Closes the channel, so that it does not keep this process alive. */
  leave(): void {
    process.removeAllListeners('message')
    if (process.connected) process.disconnect?.()
  }

  #settle(id: number, answers: readonly Answer[]): void {
    this.#asked.get(id)?.(answers)
    this.#asked.delete(id)
  }

  async #take(message: ToWorker, stopped: Pick<Stopped, 'stop'>): Promise<void> {
    if (message.kind === 'stop') stopped.stop()
    if (message.kind === 'others') this.#settle(message.id, message.answers)
    if (message.kind !== 'ask' || this.app === null) return
    const { id, question } = message
    // The answer may wait long for a COMMIT. Without a sign of life, the parent would conclude that this process hangs.
    const tellWorking = () => this.send({ kind: 'working', id })
    const timer = question.what === 'receipts' ? setInterval(tellWorking, WORKING_MS).unref() : undefined
    const answer = await answerOf(this.app, question)
    clearInterval(timer)
    this.send({ kind: 'answer', id, what: question.what, answer })
  }
}

async function answerOf(app: App, question: Question): Promise<Answer> {
  if (question.what === 'metrics') return await app.metrics()
  if (question.what === 'receipts') return await app.takeReceipts(JSON.parse(question.receipts))
  // If the configuration cannot be read now, the next poll reads it.
  await app.refresh().catch(() => undefined)
  return []
}
