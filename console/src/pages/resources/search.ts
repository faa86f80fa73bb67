import { useNavigate, useSearch } from '@tanstack/react-router'

/** What the address of a page of objects holds: which object is open and how, and the filters of the list. */
export interface ResourceSearch {
  readonly view?: 'new' | 'edit' | 'import'
  /** Key of the object. */
  readonly open?: string
  readonly accountId?: string
  readonly servicePlanId?: string
  readonly route?: string
  readonly carrier?: string
  readonly search?: string
  readonly from?: string
  readonly to?: string
  readonly prefix?: string
  readonly country?: string
  readonly mccmnc?: string
}

const FILTERS = [
  'accountId',
  'servicePlanId',
  'route',
  'carrier',
  'search',
  'from',
  'to',
  'prefix',
  'country',
  'mccmnc',
] as const
const VIEWS: readonly unknown[] = ['new', 'edit', 'import']

export function resourceSearch(search: Record<string, unknown>): ResourceSearch {
  // A number in an address that somebody typed.
  const texts = ['open', ...FILTERS]
    .map((name) => [name, typeof search[name] === 'number' ? String(search[name]) : search[name]] as const)
    .filter(([, value]) => typeof value === 'string' && value !== '')
  const view = VIEWS.includes(search.view) ? { view: search.view } : {}
  return { ...view, ...Object.fromEntries(texts) } as ResourceSearch
}

export type Filters = Omit<ResourceSearch, 'view' | 'open'>

export function useResourceSearch() {
  const { view, open, ...rest } = useSearch({ strict: false }) as ResourceSearch
  const filters: Filters = Object.fromEntries(
    FILTERS.flatMap((name) => (rest[name] === undefined ? [] : [[name, rest[name]]])),
  )
  const navigate = useNavigate()
  const go = (search: ResourceSearch, options: { replace?: boolean } = {}) =>
    navigate({ to: '.', search, ...options } as never)
  return { view, open, filters, go }
}
