import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Dialog } from '../../kit/dialog.tsx'

/** A secret that no later answer has. It closes by its button only. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Keep this secret now" mustAnswer>
      <Stack>
        <Alert color="orange" variant="light" title="It is shown this once">
          Copy it to where it is used. Nobody can read it here again.
        </Alert>
        <Group wrap="nowrap" gap="xs">
          <Code block flex={1} miw={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {secret}
          </Code>
          <CopyButton value={secret} label="Copy the secret" />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            I have kept it
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
