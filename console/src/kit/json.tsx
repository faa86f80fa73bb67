import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** Data as JSON, with a button that copies it. `label` says what it is: "The message". */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <Group align="flex-start" wrap="nowrap" gap={4}>
      {/* Focusable, so that the keyboard scrolls it. */}
      <Code block tabIndex={0} role="region" aria-label={label} flex={1} miw={0} mah={420}>
        {text}
      </Code>
      <CopyButton value={text} label="Copy as JSON" />
    </Group>
  )
}
