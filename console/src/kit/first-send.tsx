import { Anchor, Code, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CopyButton } from './copy-button.tsx'
import { curlOf } from './curl.ts'
import { EmptyState } from './empty-state.tsx'

/** In the place of a log that has no message yet: how to send the first one. */
export function FirstSend({ planId }: { planId: string }) {
  const curl = curlOf({
    servicePlanId: planId,
    channel: 'SMS',
    from: 'YOUR SENDER',
    to: '+15551230001',
    body: 'Hello',
  })
  return (
    <EmptyState title="No messages yet">
      <Stack gap="sm" align="center">
        <Text size="sm">
          Send the first one from the{' '}
          <Anchor component={Link} to="/compose" underline="always">
            Compose page
          </Anchor>
          , or with your token:
        </Text>
        <Group align="flex-start" wrap="nowrap" gap={4} maw="100%">
          <Code
            block
            ta="left"
            role="region"
            aria-label="Command that sends a message"
            style={{ whiteSpace: 'pre-wrap' }}
          >
            {curl}
          </Code>
          <CopyButton value={curl} label="Copy the command" />
        </Group>
        <Text size="sm">It appears here within seconds.</Text>
      </Stack>
    </EmptyState>
  )
}
