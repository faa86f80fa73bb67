import type { Directory } from '../domain/directory.ts'
import type { AppOptions } from './options.ts'

/**
 * Warns of carriers with fewer binds than workers: a worker without a bind hands its messages through the tables to one with
 * a bind. One worker logs it, once per carrier as long as its binds do not change.
 */
export function warnOfFewBinds({ worker, log }: AppOptions): (directory: Directory) => void {
  let said = new Map<string, number>()
  return ({ contents }) => {
    if (worker?.number !== 1) return
    const few = contents.carriers.filter(({ state, binds }) => state === 'started' && binds < worker.workers)
    for (const { name, binds } of few) {
      if (said.get(name) !== binds)
        log.warn({ carrier: name, binds, workers: worker.workers }, 'a carrier has fewer binds than workers')
    }
    said = new Map(few.map(({ name, binds }) => [name, binds]))
  }
}
