import { useEffect, useRef, useState } from 'react'
import { walkRedelivery } from './redelivery.ts'
import type { Redelivery, WebhookSide } from './side.ts'

/** How far it is. `events`: counted, or redelivered, so far. */
export type Run =
  | { readonly kind: 'none' }
  | { readonly kind: 'counting' | 'counted' | 'done' | 'cancelled'; readonly events: number }
  | { readonly kind: 'redelivering'; readonly events: number; readonly total: number }
  | { readonly kind: 'failed'; readonly events: number; readonly error: unknown }

/** Counts, and then redelivers, in as many requests as it takes. It ends with the component, and with `cancel`. */
export function useBulkRedelivery(side: WebhookSide, onRedelivered: () => unknown) {
  const [run, setRun] = useState<Run>({ kind: 'none' })
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  /** `total`: what was counted; null counts first. */
  const start = async (which: Omit<Redelivery, 'dryRun' | 'after'>, total: number | null) => {
    const controller = new AbortController()
    const { signal } = controller
    abort.current = controller
    let events = 0
    const show = () =>
      setRun(total === null ? { kind: 'counting', events } : { kind: 'redelivering', events, total })
    show()
    const request = (after: string | null) =>
      // A request that redelivers is not cut off: its sum would be lost.
      side.redeliverMany(
        { ...which, dryRun: total === null, ...(after !== null && { after }) },
        ...(total === null ? [signal] : []),
      )
    const onProgress = (sum: number) => {
      events = sum
      show()
    }
    try {
      const isWhole = await walkRedelivery(request, { signal, onProgress, wait: (s) => waitFor(s, signal) })
      if (isWhole) setRun({ kind: total === null ? 'counted' : 'done', events })
      else setRun(total === null ? { kind: 'none' } : { kind: 'cancelled', events })
    } catch (error) {
      if (signal.aborted) setRun(total === null ? { kind: 'none' } : { kind: 'cancelled', events })
      else setRun({ kind: 'failed', events, error })
    }
    if (total !== null) onRedelivered()
  }
  return {
    run,
    start: (which: Omit<Redelivery, 'dryRun' | 'after'>, total: number | null) => void start(which, total),
    cancel: () => abort.current?.abort(),
    reset: () => setRun({ kind: 'none' }),
  }
}

function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1_000 * seconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
