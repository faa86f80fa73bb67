import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Preflight, SendSmsRequest } from '../../../../client/src/api.ts'
import { customerQuery } from '../../api/queries.ts'

/** A pause in typing. Faster than anybody waits for, and far below the 20 preflights a second of an account. */
const PAUSE_MS = 300

interface Told {
  /** Of the request, or of an earlier one while it is being checked. */
  readonly preflight: Preflight | undefined
  /** The preflight is of this very request. */
  readonly isCurrent: boolean
  readonly error: Error | null
  readonly retry: () => void
}

/**
 * What a send of the request would do. A newer request ends the question about an older one. A 429 is asked again when
 * the service says so, as every query is.
 */
export function usePreflight(request: SendSmsRequest | null): Told {
  const text = request === null ? null : JSON.stringify(request)
  const [asked] = useDebouncedValue(text, PAUSE_MS)
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...customerQuery('preflightSms', JSON.parse(asked ?? '{}')),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
  })
  return {
    preflight: text === null ? undefined : data,
    isCurrent: asked === text && data !== undefined && !isPlaceholderData,
    error,
    retry: () => void refetch(),
  }
}
