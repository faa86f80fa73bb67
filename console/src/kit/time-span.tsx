import { useNavigate, useSearch } from '@tanstack/react-router'
import { Choice } from './choice.tsx'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export const TIME_SPANS = {
  '15m': { label: '15 min', ms: 15 * MINUTE_MS },
  '1h': { label: '1 h', ms: HOUR_MS },
  '6h': { label: '6 h', ms: 6 * HOUR_MS },
  '24h': { label: '24 h', ms: DAY_MS },
  '7d': { label: '7 d', ms: 7 * DAY_MS },
  '30d': { label: '30 d', ms: 30 * DAY_MS },
} as const
export type TimeSpanName = keyof typeof TIME_SPANS

const DEFAULT = '1h'

/** For `validateSearch` of a page that has a TimeSpan. */
export function timeSpanOf(search: Record<string, unknown>): { span?: TimeSpanName } {
  const span = search.span
  return typeof span === 'string' && Object.hasOwn(TIME_SPANS, span) ? { span: span as TimeSpanName } : {}
}

/** The span in the address of the page. */
export function useTimeSpan(): { readonly name: TimeSpanName; readonly ms: number } {
  const { span = DEFAULT } = useSearch({ strict: false }) as { span?: TimeSpanName }
  return { name: span, ms: TIME_SPANS[span].ms }
}

const CHOICES = Object.entries(TIME_SPANS).map(([value, { label, ms }]) => ({ value, label, ms }))

/** The one picker of a time span, whose value is in the address. `longestMs`: what the page can show at most. */
export function TimeSpan({ longestMs = Number.POSITIVE_INFINITY }: { longestMs?: number }) {
  const { name } = useTimeSpan()
  const choices = CHOICES.filter(({ ms }) => ms <= longestMs)
  const navigate = useNavigate()
  const change = (span: string) =>
    void navigate({ to: '.', search: (search: object) => ({ ...search, span }), replace: true } as never)
  return <Choice label="Time span" value={name} onChange={change} options={choices} />
}
