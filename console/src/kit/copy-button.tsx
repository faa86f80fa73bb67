import { ActionIcon } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

/** Copies `value`; `label` says what that is: "Copy the message id". */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const { copied, copy } = useClipboard()
  const name = copied ? 'Copied' : label
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={name}
      title={name}
      onClick={() => copy(value)}
    >
      {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
    </ActionIcon>
  )
}
