import { Text } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { count } from '../../kit/formats.ts'
import type { Traffic } from './statistics.ts'

/** Filters by the names of the log's address. */
type Filters = Readonly<Record<string, string>>

const DAY_MS = 86_400_000

/**
 * The filters, and since when. The log of operators looks at 24 hours unless it is of one service plan: of a longer time it
 * shows the last ones.
 */
function logSearch(traffic: Traffic, filters: Filters): Filters {
  if (!looksBack(traffic, filters)) return filters
  return { ...filters, fromDate: new Date(traffic.window.fromMs).toISOString() }
}

function looksBack({ planId, window, nowMs }: Traffic, filters: Filters): boolean {
  const isOfPlan = planId !== null || filters.servicePlanId !== undefined
  return isOfPlan || nowMs - window.fromMs <= DAY_MS
}

/** What the log lists for a number: it knows when messages were accepted, and their status now. */
export function LogHint({ traffic }: { traffic: Traffic }) {
  const listed = looksBack(traffic, {})
    ? 'messages accepted in this time that have that status now'
    : 'latest messages that have that status now'
  return (
    <Text size="xs" c="dimmed" mb="sm">
      Each number counts what happened in this time. It leads to the {listed}.
    </Text>
  )
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

const Anchor = createLink(({ children, ...props }: AnchorProps) => <a {...props}>{children}</a>)

interface LogLinkProps extends Pick<AnchorProps, 'children' | 'className' | 'title'> {
  readonly traffic: Traffic
  readonly filters: Filters
  readonly list?: 'messages' | 'inbound'
}

/** A link to the log of the messages that a number counts. */
export function LogLink({ traffic, filters, list = 'messages', ...props }: LogLinkProps) {
  const to = traffic.planId === null ? `/admin/${list}` : `/${list}`
  return (
    <Anchor to={to as '/messages'} search={logSearch(traffic, filters) as never} {...(props as object)} />
  )
}

interface CountProps {
  readonly traffic: Traffic
  readonly value: number
  /** Null when the log cannot be filtered by it. */
  readonly filters: Filters | null
}

/** A number of a table, which leads to its messages. */
export function Count({ traffic, value, filters }: CountProps) {
  if (value === 0 || filters === null) return count(value)
  return (
    <LogLink traffic={traffic} filters={filters} className="aldis-quiet-link">
      {count(value)}
    </LogLink>
  )
}
