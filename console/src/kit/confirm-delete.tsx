import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { ErrorState } from './error-state.tsx'

interface ConfirmDeleteProps {
  /** "Delete carrier north" */
  readonly title: string
  /** What must be typed: a name or a number. */
  readonly name: string
  /** "Revoke" */
  readonly verb: string
  /** What follows from it. */
  readonly children?: ReactNode
  /** Why it would be refused, in place of the question. */
  readonly obstacle?: ReactNode
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
      {props.obstacle === undefined ? <Question {...props} /> : <Refusal {...props} />}
    </Dialog>
  )
}

function Question({ name, verb, children, onClose, onConfirm, isPending, error }: ConfirmDeleteProps) {
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
          Type <Code>{name}</Code> to {verb.toLowerCase()} it. This cannot be undone.
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
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Refusal({ obstacle, onClose }: ConfirmDeleteProps) {
  return (
    <Stack>
      {obstacle}
      <Group justify="flex-end">
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  )
}
