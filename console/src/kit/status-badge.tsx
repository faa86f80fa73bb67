import { Badge } from '@mantine/core'

/** What a colour says, on every page. */
export type Tone = 'neutral' | 'info' | 'good' | 'warning' | 'bad'

const COLORS: Readonly<Record<Tone, string>> = {
  neutral: 'gray',
  info: 'blue',
  good: 'green',
  warning: 'orange',
  bad: 'red',
}

/** A state in one word. `kit.css` sets its colours so that they can be read in both schemes. */
export function StatusBadge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Badge color={COLORS[tone]} variant="light" radius="sm" className="aldis-badge" data-tone={tone}>
      {children}
    </Badge>
  )
}

const TONES = {
  QUEUED: 'neutral',
  SENT: 'info',
  DELIVERED: 'good',
  FAILED: 'bad',
  UNKNOWN: 'warning',
} as const satisfies Record<string, Tone>

/** The status of a message. */
export function MessageStatusBadge({ status }: { status: keyof typeof TONES }) {
  return <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
}
