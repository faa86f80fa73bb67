import { Progress as Bar, Group, Text } from '@mantine/core'

interface ProgressProps {
  /** What is being done: "Redelivering". */
  readonly label: string
  readonly done: number
  /** Null when nobody knows. */
  readonly total: number | null
}

/** How far long work is. */
export function Progress({ label, done, total }: ProgressProps) {
  const percent = total === null ? 100 : total === 0 ? 100 : (100 * done) / total
  return (
    <div role="status">
      <Group justify="space-between" mb={4}>
        <Text size="sm">{label}</Text>
        <Text size="sm">{total === null ? done : `${done} of ${total}`}</Text>
      </Group>
      <Bar value={percent} animated={total === null} aria-label={label} />
    </div>
  )
}
