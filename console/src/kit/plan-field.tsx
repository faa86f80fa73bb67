import { useState } from 'react'
import { idIn } from './named.ts'
import { NamedField } from './named-field.tsx'

interface PlanFieldProps {
  readonly label: string
  readonly description?: string
  readonly size?: 'xs' | 'sm'
  /** The plan that is chosen at first. */
  readonly planId?: string | undefined
  /** The id of the plan, or null while the text names none. */
  readonly onChoose: (planId: string | null) => void
}

/** A NamedField that keeps what is typed, for pages that want to know of a plan only. */
export function PlanField({ size = 'sm', planId = '', onChoose, ...rest }: PlanFieldProps) {
  const [value, setValue] = useState(planId)
  const change = (next: string) => {
    setValue(next)
    onChoose(idIn(next, []))
  }
  return (
    <NamedField
      {...rest}
      kind="service plan"
      size={size}
      w={size === 'xs' ? 290 : '100%'}
      maw="100%"
      value={value}
      onChange={change}
    />
  )
}
