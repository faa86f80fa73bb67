/** What a colour says, on every page. */
export type Tone = 'neutral' | 'info' | 'good' | 'warning' | 'bad'

/** A state in one word. Its colours are in `kit.css`: those of Mantine's badges have too little contrast for WCAG AA. */
export function StatusBadge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className="aldis-badge" data-tone={tone}>
      {children}
    </span>
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
