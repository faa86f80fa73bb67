import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface BarProps {
  readonly label: string
  /** In words, beside the label. */
  readonly text: ReactNode
  readonly value: number
  /** Null when nobody knows. */
  readonly max: number | null
}

/** How much of something is done or used. */
export function Bar({ label, text, value, max }: BarProps) {
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{label}</Text>
        <Text size="sm">{text}</Text>
      </Group>
      <progress
        className="aldis-bar"
        aria-label={label}
        {...(max !== null && { value, max, 'data-full': value >= max })}
      />
    </div>
  )
}

interface ProgressProps {
  /** What is being done: "Redelivering". */
  readonly label: string
  readonly done: number
  /** Null when nobody knows. */
  readonly total: number | null
}

/** How far long work is. */
export function Progress({ label, done, total }: ProgressProps) {
  const text = total === null ? done : `${done} of ${total}`
  return (
    <div role="status">
      <Bar label={label} text={text} value={done} max={total} />
    </div>
  )
}
