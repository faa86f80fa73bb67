import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { explain } from '../api/errors.ts'

/** What went wrong, field by field where the service said so, and the request id for the operator. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, detail, requestId, faults } = explain(error)
  const fields = Object.entries(faults)
  return (
    <Alert color="red" variant="light" title={title} icon={<IconAlertTriangle aria-hidden />} role="alert">
      <Text size="sm">{detail}</Text>
      {fields.length > 0 && (
        <ul className="aldis-list">
          {fields.map(([field, message]) => (
            <li key={field}>
              <Code>{field}</Code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== null && (
        <Text size="sm" mt="xs">
          Request id: <Code>{requestId}</Code>
        </Text>
      )}
      {onRetry !== undefined && (
        <Group mt="sm">
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  )
}
