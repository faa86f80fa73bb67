import { once } from 'node:events'
import type { AppOptions, Siblings } from '../app/options.ts'
import { startApp } from '../app/start.ts'
import type { Config } from '../config.ts'
import { createLog } from '../log.ts'
import { explainError } from './explain-error.ts'
import { listeningOf, nodeOptions } from './node-options.ts'
import { endWithin, explainStart, SAME_NAME, untilStopped } from './running.ts'
import type { Assignment, ToWorker } from './worker-messages.ts'
import { Parent } from './worker-parent.ts'

/** Time beyond the drain after which this process kills itself. */
const LAST_RESORT_MS = 5_000

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
