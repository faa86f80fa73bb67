import { Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface SectionProps {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A part of a page, with its heading. */
export function Section({ title, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Paper component="section" withBorder p="md" mb="md" fz="sm" aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Paper>
  )
}
