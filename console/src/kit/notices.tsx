import { CloseButton, Paper, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'

/** "Saved", "Carrier north is started": what was done, at the foot of the window for a while. Errors stay on their page. */

interface Notice {
  readonly id: number
  readonly text: string
}

const SHOWN_MS = 6_000
const MOST = 3

let notices: readonly Notice[] = []
let lastId = 0
const listeners = new Set<() => void>()

function change(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

function remove(id: number): void {
  change(notices.filter((notice) => notice.id !== id))
}

/** Tells what was done. */
export function notify(text: string): void {
  lastId += 1
  const id = lastId
  change([...notices, { id, text }].slice(-MOST))
  setTimeout(() => remove(id), SHOWN_MS)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices)
  return (
    <div className="aldis-notices" role="status">
      {shown.map(({ id, text }) => (
        <Paper key={id} withBorder shadow="md" px="md" py="xs" className="aldis-notice">
          <Text size="sm">{text}</Text>
          <CloseButton size="sm" aria-label="Close" onClick={() => remove(id)} />
        </Paper>
      ))}
    </div>
  )
}
