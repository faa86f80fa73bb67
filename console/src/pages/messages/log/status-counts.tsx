import { Skeleton, Text, VisuallyHidden } from '@mantine/core'
import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import type { StatusCounts as Counts } from '../../../../../client/src/api.ts'
import { TONES } from '../story/entries.ts'
import { FilterLink } from './filter-link.tsx'
import type { Key } from './live-log.ts'

const STATUSES = ['QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN'] as const
const COUNT_MS = 8_000

interface StatusCountsProps {
  readonly options: UseQueryOptions<Counts, Error, Counts, Key>
  readonly isLive: boolean
  /** The status that the log is filtered by. */
  readonly chosen: string | undefined
}

/** How many of what matches has which status; each is a link that filters by it, or no longer does. */
export function StatusCounts({ options, isLive, chosen }: StatusCountsProps) {
  const { data, isError } = useQuery({ ...options, refetchInterval: isLive && COUNT_MS })
  // The log below says what is wrong.
  if (isError && data === undefined) return null
  return (
    <section className="log-counts" aria-label="Statuses">
      <ul>
        {STATUSES.map((status) => (
          <li key={status}>
            <FilterLink
              className="log-count"
              data-tone={TONES[status]}
              change={{ status: status === chosen ? undefined : status }}
              isChosen={status === chosen}
            >
              <span className="log-count-name">{status}</span>
              {data === undefined ? (
                <Skeleton height={20} width={40} aria-hidden />
              ) : (
                <span className="log-count-number">{data.counts[status].toLocaleString('en')}</span>
              )}
              {status === chosen && <VisuallyHidden>, chosen</VisuallyHidden>}
            </FilterLink>
          </li>
        ))}
      </ul>
      <Shares data={data} />
      <Text size="xs" c="dimmed">
        {scopeOf(data)}
      </Text>
    </section>
  )
}

/** The same as a line of colours. */
function Shares({ data }: { data: Counts | undefined }) {
  return (
    <div className="log-shares" aria-hidden>
      {STATUSES.map((status) => (
        <span key={status} data-tone={TONES[status]} style={{ flexGrow: data?.counts[status] ?? 0 }} />
      ))}
    </div>
  )
}

function scopeOf(data: Counts | undefined): string {
  if (data === undefined) return 'Counting …'
  const counted = data.counted.toLocaleString('en')
  if (data.hasMore) return `Of the newest ${counted} that match`
  return data.counted === 1 ? 'Of the one message that matches' : `Of all ${counted} that match`
}
