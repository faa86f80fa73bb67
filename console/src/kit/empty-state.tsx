import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Stands where a list is still empty. `children` says what to do about it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="xs" ta="center">
        <Text fw={600}>{title}</Text>
        {children !== undefined && (
          <Text component="div" size="sm" c="dimmed">
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
