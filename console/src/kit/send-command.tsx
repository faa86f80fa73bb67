import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** The curl command that sends a message; the token comes from the shell. */
export function sendCommand(request: object, idempotencyKey?: string): string {
  return [
    `curl -i ${location.origin}/v1/sendsms`,
    '-H "Authorization: Bearer $ALDIS_TOKEN"',
    "-H 'Content-Type: application/json'",
    ...(idempotencyKey === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`]),
    `-d ${quoted(JSON.stringify(request))}`,
  ].join(' \\\n  ')
}

/** As a POSIX shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The command, with a button that copies it. */
export function SendCommand({ command }: { command: string }) {
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
