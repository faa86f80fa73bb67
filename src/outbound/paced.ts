import { performance } from 'node:perf_hooks'

/** Between two messages to the other thread. To wake it costs more than what is in a small one. */
const SPAN_MS = 1

/** Plans `flush` for all that comes until then: to the end of this turn of the event loop, or SPAN_MS after the last one. */
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
