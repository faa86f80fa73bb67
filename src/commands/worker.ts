import { once } from 'node:events'
import type { AppOptions, Siblings } from '../app/options.ts'
import { type App, startApp } from '../app/start.ts'
import type { Config } from '../config.ts'
import { createLog } from '../log.ts'
import { explainError } from './explain-error.ts'
import { listeningOf, nodeOptions } from './node-options.ts'
import { endWithin, explainStart, SAME_NAME, type Stopped, untilStopped } from './running.ts'
import type { Answer, Assignment, FromWorker, Question, ToWorker } from './worker-messages.ts'

/** Time beyond the drain after which this process kills itself. */
const LAST_RESORT_MS = 5_000
/** How often this process says that it is still working on receipts. */
const WORKING_MS = 1_000

/**
 * A worker of `aldis serve --workers N`: a node of its own, until its parent stops it, or is gone. `changed`: options in which
 * it differs from the configuration, for the bench.
 */
export async function runWorker(config: Config, changed: Partial<AppOptions> = {}): Promise<void> {
  if (!process.connected) throw new Error('--as-worker is for aldis serve itself')
  const [{ assignment }] = (await once(process, 'message')) as [Extract<ToWorker, { kind: 'begin' }>]
  const log = createLog(config.logLevel, { worker: assignment.number })
  const stopped = untilStopped(log)
  const parent = new Parent(stopped)
  const onBarred: AppOptions['onBarred'] = (why) => {
    const reason = why?.message ?? SAME_NAME
    parent.send({ kind: 'barred', reason })
    stopped.fail(reason)
  }
  try {
    const options = workerOptions(config, assignment, { log, onBarred, parent })
    const app = await startApp({ ...options, ...changed })
    parent.app = app
    const { url, port, operatorPort } = app
    log.info({ pid: process.pid }, 'worker is ready')
    parent.send({ kind: 'ready', ports: { url, port, operatorPort } })
    await stopped.wait()
    log.info('draining')
    endWithin(config.drainTimeoutMs + LAST_RESORT_MS)
    await app.stop()
  } catch (error) {
    process.exitCode = 1
    const { httpPort, operatorPort } = assignment
    const listens = { ...config, httpPort, operatorPort: operatorPort ?? undefined }
    const reason = explainError(explainStart(error, (listener) => listeningOf(listens, listener)))
    parent.send({ kind: 'failed', reason })
  } finally {
    parent.leave()
  }
}

function workerOptions(
  config: Config,
  assignment: Assignment,
  { parent, ...given }: Pick<AppOptions, 'log' | 'onBarred'> & { parent: Parent },
): AppOptions {
  const { number, workers, nodeName, databaseUrl, httpPort, operatorPort, carriersStopped, listensFirst } =
    assignment
  return {
    ...nodeOptions(config, { databaseUrl, nodeName, ...given }),
    httpPort,
    operatorPort: operatorPort ?? undefined,
    carriersStopped,
    worker: { number, workers, listensFirst, siblings: siblingsOver(parent) },
  }
}

function siblingsOver(parent: Parent): Siblings {
  return {
    metrics: () => parent.askOthers({ what: 'metrics' }) as ReturnType<Siblings['metrics']>,
    refresh: () => parent.askOthers({ what: 'refresh' }),
    receipts: (rows) =>
      parent.askOthers({ what: 'receipts', receipts: JSON.stringify(rows) }) as ReturnType<
        Siblings['receipts']
      >,
  }
}

/** The process that started this one. */
class Parent {
  app: App | null = null
  readonly #asked = new Map<number, (answers: readonly Answer[]) => void>()
  #lastId = 0

  constructor(stopped: Stopped) {
    process.on('message', (message) => void this.#take(message as ToWorker, stopped))
    // Without its parent nobody would stop this process, which would keep its share of the connections.
    process.on('disconnect', () => {
      for (const settle of this.#asked.values()) settle([])
      this.#asked.clear()
      stopped.stop()
    })
    if (!process.connected) stopped.stop()
  }

  send(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }

  /** Returns the answers that come in time: the parent gives up a worker that is silent for 3 s. */
  askOthers(question: Question): Promise<readonly Answer[]> {
    if (!process.connected) return Promise.resolve([])
    this.#lastId += 1
    const id = this.#lastId
    const { promise, resolve } = Promise.withResolvers<readonly Answer[]>()
    this.#asked.set(id, resolve)
    this.send({ kind: 'ask-others', id, question })
    return promise
  }

  /** Closes the channel, so that it does not keep this process alive. */
  leave(): void {
    process.removeAllListeners('message')
    if (process.connected) process.disconnect?.()
  }

  async #take(message: ToWorker, stopped: Stopped): Promise<void> {
    if (message.kind === 'stop') stopped.stop()
    if (message.kind === 'others') {
      this.#asked.get(message.id)?.(message.answers)
      this.#asked.delete(message.id)
    }
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
