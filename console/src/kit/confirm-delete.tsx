import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { ErrorState } from './error-state.tsx'

interface ConfirmDeleteProps {
  /** "Delete carrier north" */
  readonly title: string
  /** What must be typed: a name or a number. */
  readonly name: string
  /** What follows from it, and who uses it. */
  readonly children?: ReactNode
  readonly onClose: () => void
  readonly opened: boolean
  readonly onConfirm: () => void
  readonly isPending: boolean
  readonly error: Error | null
}

/** Asks for the name of what is to be deleted. The page does it, and closes this. */
export function ConfirmDelete(props: ConfirmDeleteProps) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title={props.title}>
      {/* Mounted anew each time, so that what was typed before is gone. */}
      <Question {...props} />
    </Dialog>
  )
}

function Question({ name, children, onClose, onConfirm, isPending, error }: ConfirmDeleteProps) {
  const [typed, setTyped] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed === name) onConfirm()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        <Text size="sm">
          Type <Code>{name}</Code> to delete it. This cannot be undone.
        </Text>
        <TextInput
          label="Name"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {error !== null && <ErrorState error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" disabled={typed !== name} loading={isPending}>
            Delete
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
