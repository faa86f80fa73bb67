import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorState } from '../../kit/error-state.tsx'

interface MessageDrawerProps<Message> {
  /** Of the message in the address, or undefined: nothing is open. */
  readonly msgId: string | undefined
  readonly query: UseQueryResult<Message>
  readonly children: (message: Message) => ReactNode
}

/** The message that the address says is open, beside the list. */
export function MessageDrawer<Message>({ msgId, query, children }: MessageDrawerProps<Message>) {
  const navigate = useNavigate()
  const close = () =>
    void navigate({
      to: '.',
      search: (search: object) => ({ ...search, open: undefined }),
      resetScroll: false,
    } as never)
  const { data, error, refetch } = query
  return (
    <Dialog opened={msgId !== undefined} onClose={close} title="Inbound message" side="right">
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {msgId !== undefined && data === undefined && error === null && (
        <Skeleton height={160} role="status" aria-label="Message: loading" />
      )}
      {msgId !== undefined && data !== undefined && <Stack gap="md">{children(data)}</Stack>}
    </Dialog>
  )
}
