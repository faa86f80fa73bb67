import { Anchor, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSenders } from '../api/senders.ts'
import { CopyButton } from './copy-button.tsx'
import { curlOf } from './curl.ts'
import { EmptyState } from './empty-state.tsx'
import { NoSender } from './no-sender.tsx'

/** In the place of a log that has no message yet: how to send the first one. */
export function FirstSend({ planId }: { planId: string }) {
  const { allowed, isNone, isLoading } = useSenders()
  if (isLoading) return <Skeleton height={220} role="status" aria-label="Senders: loading" />
  if (isNone)
    return (
      <EmptyState title="No messages yet">
        <NoSender planId={planId} />
      </EmptyState>
    )
  const curl = curlOf({
    servicePlanId: planId,
    channel: 'SMS',
    from: allowed[0] ?? 'YOUR SENDER',
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
