import { Box, Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'

interface FilterFoldProps {
  /** How many filters apply. */
  readonly applied: number
  /** The list needs one of them. */
  readonly isNeeded?: boolean
  readonly children: ReactNode
}

/** Filters above a list. A phone, whose screen they would fill, shows them when asked to. */
export function FilterFold({ applied, isNeeded = false, children }: FilterFoldProps) {
  const [isOpen, setOpen] = useState(isNeeded)
  return (
    <>
      <Button
        hiddenFrom="sm"
        mb="sm"
        size="xs"
        variant="default"
        leftSection={<IconFilter size={14} aria-hidden />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {applied === 0 ? 'Filters' : `Filters: ${applied}`}
      </Button>
      <Box mb="md" {...(!isOpen && { visibleFrom: 'sm' })}>
        {children}
      </Box>
    </>
  )
}
