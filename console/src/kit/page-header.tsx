import { Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTitle } from './title.ts'

interface PageHeaderProps {
  readonly title: string
  /** Of the document, where the heading is too long or too bare for it. */
  readonly documentTitle?: string
  readonly description?: ReactNode
  /** Buttons and links at the right. */
  readonly actions?: ReactNode
}

/** The one `h1` of a page, which is the title of the document too. */
export function PageHeader({ title, documentTitle = title, description, actions }: PageHeaderProps) {
  useTitle(documentTitle)
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <div>
        <Title order={1} size="h3">
          {title}
        </Title>
        {description !== undefined && (
          <Text component="div" size="sm" c="dimmed">
            {description}
          </Text>
        )}
      </div>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
