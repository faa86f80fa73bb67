import { useState } from 'react'
import { planIdIn, planLabel, usePlans } from './plans.ts'
import { SuggestInput } from './suggest-input.tsx'

interface PlanFieldProps {
  readonly label: string
  readonly description?: string
  readonly size?: 'xs' | 'sm'
  /** The plan that is chosen at first. */
  readonly planId?: string | undefined
  /** The id of the plan, or null while the text names none. */
  readonly onChoose: (planId: string | null) => void
}

/** Finds a service plan by its name or id. Of an operator. */
export function PlanField({ label, description, size = 'sm', planId = '', onChoose }: PlanFieldProps) {
  const { data: plans = [] } = usePlans()
  const [typed, setTyped] = useState<string | null>(null)
  const given = plans.find(({ servicePlanId }) => servicePlanId === planId)
  const change = (text: string) => {
    setTyped(text)
    onChoose(planIdIn(text, plans))
  }
  return (
    <SuggestInput
      label={label}
      description={description}
      size={size}
      w={size === 'xs' ? 290 : '100%'}
      maw="100%"
      placeholder="Name or id"
      value={typed ?? (given === undefined ? planId : planLabel(given))}
      onChange={(event) => change(event.currentTarget.value)}
      // The browser shows what matches the text: with the old one gone, everything.
      onFocus={(event) => event.currentTarget.select()}
      suggestions={plans.map((plan) => ({ value: planLabel(plan) }))}
      spellCheck={false}
    />
  )
}
