import { IconX } from '@tabler/icons-react'
import { exactTime } from '../../../kit/time.tsx'
import { TIME_SPANS, type TimeSpanName } from '../../../kit/time-span.tsx'
import { FilterLink } from './filter-link.tsx'
import { FILTER_LABELS, type FilterName } from './filter-names.ts'
import { filtersOf, hasFilters, isOfOne, isSpanAllowed, type LogSearch } from './filters.ts'

type Spans = readonly (readonly [TimeSpanName, { readonly label: string }])[]
const SPANS = Object.entries(TIME_SPANS) as unknown as Spans

interface SpansProps {
  readonly search: LogSearch
  /** An operator's log goes back a day, unless it is one plan's. */
  readonly isOperator: boolean
}

/** The quick spans of time. */
export function QuickSpans({ search, isOperator }: SpansProps) {
  const { span, fromDate, toDate } = search
  const isBounded = isOperator && !isOfOne(search)
  const spans = isBounded ? SPANS.filter(([name]) => isSpanAllowed(search, name)) : SPANS
  const isAll = span === undefined && fromDate === undefined && toDate === undefined
  // Which is what the admin API does without a window.
  const current = isBounded && isAll ? '24h' : span
  const choose = (name: TimeSpanName | undefined) => ({ span: name, fromDate: undefined, toDate: undefined })
  return (
    <ul className="log-spans" aria-label="Time">
      {spans.map(([name, { label }]) => (
        <li key={name}>
          <FilterLink className="log-span" change={choose(name)} isChosen={name === current}>
            {label}
          </FilterLink>
        </li>
      ))}
      {!isBounded && (
        <li>
          <FilterLink className="log-span" change={choose(undefined)} isChosen={isAll}>
            Any time
          </FilterLink>
        </li>
      )}
    </ul>
  )
}

/** The filters that apply. Each is a link that takes it away. */
export function FilterChips({ search }: { search: LogSearch }) {
  if (!hasFilters(search)) return null
  const filters = Object.entries(filtersOf(search)) as [FilterName, string][]
  const none = Object.fromEntries([...filters.map(([name]) => [name, undefined]), ['span', undefined]])
  return (
    <ul className="log-chips" aria-label="Filters">
      {search.span !== undefined && (
        <Chip label="Time" value={`last ${TIME_SPANS[search.span].label}`} change={{ span: undefined }} />
      )}
      {filters.map(([name, value]) => (
        <Chip
          key={name}
          label={FILTER_LABELS[name]}
          value={shown(name, value)}
          change={{ [name]: undefined }}
        />
      ))}
      {filters.length > 1 && (
        <li>
          <FilterLink className="log-clear" change={none}>
            Clear all
          </FilterLink>
        </li>
      )}
    </ul>
  )
}

interface ChipProps {
  readonly label: string
  readonly value: string
  readonly change: Parameters<typeof FilterLink>[0]['change']
}

function Chip({ label, value, change }: ChipProps) {
  return (
    <li>
      <FilterLink className="log-chip" change={change} aria-label={`Remove the filter ${label}: ${value}`}>
        <span>
          <span className="log-chip-label">{label}</span> {value}
        </span>
        <IconX size={13} aria-hidden />
      </FilterLink>
    </li>
  )
}

function shown(name: FilterName, value: string): string {
  const isDate = name === 'fromDate' || name === 'toDate'
  return isDate && !Number.isNaN(Date.parse(value)) ? exactTime(value) : value
}
