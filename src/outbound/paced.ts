import { performance } from 'node:perf_hooks'

/** Time between two messages to the other thread. Waking it costs more than handling a small message. */
const SPAN_MS = 1

/** Runs `flush` once for all calls until then: to the end of this turn of the event loop, or SPAN_MS after the last flush. */
export function paced(flush: () => void): () => void {
  let isPlanned = false
  let ranAtMs = Number.NEGATIVE_INFINITY
  const run = () => {
    isPlanned = false
    ranAtMs = performance.now()
    flush()
  }
  return () => {
    if (isPlanned) return
    isPlanned = true
    const restMs = ranAtMs + SPAN_MS - performance.now()
    if (restMs > 0) setTimeout(run, restMs)
    else setImmediate(run)
  }
}
