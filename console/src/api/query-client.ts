import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { AldisError } from '../../../client/src/errors.ts'
import { SESSION_KEY } from './session.ts'

const MOST_RETRIES = 2
const LONGEST_RETRY_WAIT_MS = 10_000
const FRESH_MS = 5_000

/** A request that was refused is refused again; one without an answer, or with 429 or 5xx, may succeed later. */
function mayRetry(failures: number, error: Error): boolean {
  if (failures >= MOST_RETRIES) return false
  return !(error instanceof AldisError) || error.status >= 500 || error.status === 429
}

function retryWaitMs(failures: number, error: Error): number {
  const asked = error instanceof AldisError ? error.retryAfterSeconds : null
  return Math.min(LONGEST_RETRY_WAIT_MS, asked === null ? 500 * 2 ** failures : asked * 1_000)
}

/** The session has ended, or its token was revoked: asking again which sessions there are shows the sign-in page. */
function onError(error: Error): void {
  if (error instanceof AldisError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: SESSION_KEY })
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: mayRetry,
      retryDelay: retryWaitMs,
    },
    // Only the person knows what may be sent twice.
    mutations: { retry: false },
  },
})
