import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { operatorClient } from '../api/clients.ts'
import { operatorQuery } from '../api/queries.ts'

/** What has a name for people and an id for programs. Of an operator. */
export type NamedKind = 'account' | 'service plan'

export interface Named {
  readonly id: string
  readonly name: string
}

/** As many as the API lists at once. With more, others are found by the beginning of their name, or chosen by their id. */
const MOST = '1000'
const MOST_FOUND = '50'
const FRESH_MS = 60_000
const PAUSE_MS = 250

/** Those to choose from, by name. */
export function useNamed(kind: NamedKind, text = ''): readonly Named[] {
  const [search] = useDebouncedValue(text.trim(), PAUSE_MS)
  const first = useQuery(namedQuery(kind, { limit: MOST }))
  const isMissing = first.data?.isPart === true && search !== '' && idIn(search, first.data.items) === null
  const found = useQuery({ ...namedQuery(kind, { limit: MOST_FOUND, search }), enabled: isMissing })
  const items = first.data?.items ?? []
  const more = isMissing ? (found.data?.items ?? []) : []
  return [...items, ...more.filter(({ id }) => items.every((item) => item.id !== id))]
}

const ID = /^[0-9a-f]{24}$/

/** The name that belongs to an id; one that is not among the first is asked for by itself. */
export function useNameOf(kind: NamedKind, id: string): string | undefined {
  const { data } = useQuery(namedQuery(kind, { limit: MOST }))
  const listed = data?.items.find((each) => each.id === id)?.name
  const isMissing = data?.isPart === true && listed === undefined && ID.test(id)
  const ofAccount = kind === 'account'
  const account = useQuery({
    ...operatorQuery('getAccount', { accountId: id }),
    enabled: isMissing && ofAccount,
    staleTime: FRESH_MS,
  })
  const plan = useQuery({
    ...operatorQuery('getServicePlan', { servicePlanId: id }),
    enabled: isMissing && !ofAccount,
    staleTime: FRESH_MS,
  })
  return listed ?? (ofAccount ? account : plan).data?.name
}

function namedQuery(kind: NamedKind, input: { limit: string; search?: string }) {
  return {
    queryKey: ['operator', kind === 'account' ? 'listAccounts' : 'listServicePlans', 'named', input],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const { items, nextAfter } = await listed(kind, input, signal)
      const sorted = items.sort((one, other) => one.name.localeCompare(other.name))
      return { items: sorted, isPart: nextAfter !== null }
    },
    staleTime: FRESH_MS,
  }
}

async function listed(kind: NamedKind, input: { limit: string; search?: string }, signal: AbortSignal) {
  if (kind === 'account') {
    const { items, nextAfter } = await operatorClient.listAccounts(input, { signal })
    return { items: items.map(({ accountId: id, name }): Named => ({ id, name })), nextAfter }
  }
  const { items, nextAfter } = await operatorClient.listServicePlans(input, { signal })
  return { items: items.map(({ servicePlanId: id, name }): Named => ({ id, name })), nextAfter }
}

/** What a choice shows, and what `idIn` understands. */
export function labelOfNamed({ id, name }: Named): string {
  return `${name} · ${id}`
}

/** The id that is meant: one anywhere in the text, or that of the only one with this name. */
export function idIn(text: string, named: readonly Named[]): string | null {
  const id = text.match(/\b[0-9a-f]{24}\b/i)?.[0]
  if (id !== undefined) return id.toLowerCase()
  const wanted = text.trim().toLowerCase()
  const [one, ...others] = named.filter(({ name }) => name.toLowerCase() === wanted)
  return one !== undefined && others.length === 0 ? one.id : null
}
