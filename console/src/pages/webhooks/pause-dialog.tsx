import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { CommandLine } from '../../kit/command-line.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import type { WebhookSide } from './side.ts'

interface PauseDialogProps {
  readonly side: WebhookSide
  readonly opened: boolean
  readonly onClose: () => void
}

/** Pauses a destination by its address: one that works is not listed. */
export function PauseDialog({ side, opened, onClose }: PauseDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Pause a destination">
      <Question side={side} onClose={onClose} />
    </Dialog>
  )
}

function Question({ side, onClose }: Omit<PauseDialogProps, 'opened'>) {
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const pause = useMutation({
    mutationFn: (destination: string) => side.pause(destination),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [side.key] })
      onClose()
    },
  })
  const destination = destinationOf(typed)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    pause.mutate(destination)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          Nothing is sent to it, and its events wait without end, until it is resumed. Use it before you take
          your receiver down.
        </Text>
        <TextInput
          label="Destination"
          description="Scheme, host and port of the URL; what follows them is left out"
          placeholder="Scheme, host and port"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          required
          autoComplete="off"
          data-autofocus
        />
        {side.key === 'operator' && (
          <CommandLine
            words={['destination', 'pause', '--plan', side.planId, '--destination', destination || 'URL']}
          />
        )}
        {pause.error !== null && <ErrorState error={pause.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={pause.isPending}>
            Pause
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Of a whole URL its destination. */
function destinationOf(typed: string): string {
  const url = URL.parse(typed.trim())
  return url === null || url.origin === 'null' ? typed.trim() : url.origin
}
