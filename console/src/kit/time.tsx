import { VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'
import { NoValue } from './no-value.tsx'

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** "3 min. ago", "in 2 hr." */
function relativeTime(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1_000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return RELATIVE.format(Math.trunc(seconds / size), unit)
}

/** In the time zone of the browser, to the second. */
export function exactTime(at: string | number): string {
  return EXACT.format(new Date(at))
}

const TICK_MS = 15_000

/** Now, renewed while the page is shown. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** A time as it is relative to now; the exact one in its tooltip and for screen readers. A dash when there is none. */
export function Time({ at }: { at: string | null }) {
  const now = useNow()
  if (at === null) return <NoValue />
  const exact = exactTime(at)
  return (
    <time dateTime={at} title={exact}>
      {relativeTime(Date.parse(at), now)}
      <VisuallyHidden component="span">, {exact}</VisuallyHidden>
    </time>
  )
}
