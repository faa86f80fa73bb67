import { useId } from 'react'

interface ChoiceProps {
  /** What is chosen: "Time span". */
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly { readonly value: string; readonly label: string }[]
}

/** One of a few, side by side. */
export function Choice({ label: name, value: chosen, onChange, options }: ChoiceProps) {
  const group = useId()
  return (
    <div role="radiogroup" aria-label={name} className="aldis-choice">
      {options.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name={group}
            value={value}
            checked={value === chosen}
            onChange={() => onChange(value)}
          />
          {label}
        </label>
      ))}
    </div>
  )
}
