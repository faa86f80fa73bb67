import { Code, Group } from '@mantine/core'
import { CopyButton } from '../../kit/copy-button.tsx'
import { curlOf } from '../../kit/curl.ts'

/** The curl command that sends this body, with a button that copies it. */
export function SendCommand({ body, idempotencyKey }: { body: object; idempotencyKey: string }) {
  const command = curlOf(body, idempotencyKey)
  return (
    <Group align="flex-start" wrap="nowrap" gap={4}>
      {/* Focusable, so that the keyboard scrolls it. */}
      <Code block tabIndex={0} role="region" aria-label="The curl command" flex={1} miw={0}>
        {command}
      </Code>
      <CopyButton value={command} label="Copy the curl command" />
    </Group>
  )
}
