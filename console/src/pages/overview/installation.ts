import { useQuery } from '@tanstack/react-query'
import { operatorQuery } from '../../api/queries.ts'
import type { Installation } from './concerns.ts'
import { POLL_MS } from './statistics.ts'

const POLL = { refetchInterval: POLL_MS }

/** What the node that answers knows of the installation; undefined until all of it is there. */
export function useInstallation(): {
  readonly data: Installation | undefined
  readonly error: Error | null
  readonly retry: () => void
} {
  const carriers = useQuery({ ...operatorQuery('listCarriers', { limit: '1000' }), ...POLL })
  const queue = useQuery({ ...operatorQuery('getQueue', {}), ...POLL })
  const nodes = useQuery({ ...operatorQuery('listNodes', {}), ...POLL })
  const alarms = useQuery({ ...operatorQuery('listAlarms', {}), ...POLL })
  const all = [carriers, queue, nodes, alarms]
  const isThere = carriers.data && queue.data && nodes.data && alarms.data
  return {
    data: isThere
      ? {
          carriers: carriers.data.items,
          queue: queue.data,
          nodes: nodes.data.items,
          alarms: alarms.data.items,
        }
      : undefined,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      for (const { refetch } of all) void refetch()
    },
  }
}
