import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { IconDownload, IconX } from '@tabler/icons-react'
import { ErrorState } from '../../../kit/error-state.tsx'
import { count, counted } from '../../../kit/formats.ts'
import { MOST_ROWS, type useExport } from './export.ts'

type Exporting = ReturnType<typeof useExport>

export function ExportButton({ exporting: { progress, start, cancel } }: { exporting: Exporting }) {
  if (progress.state === 'running')
    return (
      <Button variant="default" size="xs" onClick={cancel}>
        Cancel the export
      </Button>
    )
  return (
    <Button variant="default" size="xs" leftSection={<IconDownload size={14} aria-hidden />} onClick={start}>
      Export CSV
    </Button>
  )
}

/** How far it is, or what became of it. */
export function ExportProgress({ exporting: { progress, start, dismiss } }: { exporting: Exporting }) {
  if (progress.state === 'idle') return null
  if (progress.state === 'failed') return <ErrorState error={progress.error} onRetry={start} />
  return (
    <Group gap="xs" mb="sm" role="status">
      <Text size="sm">
        {progress.state === 'running'
          ? `Exporting: ${count(progress.rows)} so far`
          : `Exported ${counted(progress.rows, 'message')}.${progress.isCutOff ? ` More match: a file has at most ${count(MOST_ROWS)}. Choose a shorter time for the rest.` : ''}`}
      </Text>
      {progress.state === 'done' && (
        <ActionIcon size="sm" variant="subtle" color="gray" aria-label="Dismiss" onClick={dismiss}>
          <IconX size={14} aria-hidden />
        </ActionIcon>
      )}
    </Group>
  )
}
