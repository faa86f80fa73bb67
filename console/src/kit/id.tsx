import { Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** An id, with a button that copies it. `of` says whose it is: "message". */
export function Id({ value, of }: { value: string; of: string }) {
  return (
    <Group gap={2} wrap="nowrap" display="inline-flex">
      <span className="aldis-mono">{value}</span>
      <CopyButton value={value} label={`Copy the ${of} id`} />
    </Group>
  )
}
