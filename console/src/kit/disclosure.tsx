import { type KeyboardEvent, type ReactNode, useRef } from 'react'

interface DisclosureProps {
  /** What the button opens: "Sessions". */
  readonly label: string
  readonly icon: ReactNode
  readonly children: ReactNode
}

/**
 * A button that opens a small panel below itself. The browser does the work, which saves the code of a positioned menu;
 * Escape, a move of the focus out of it, and a choice close it.
 */
export function Disclosure({ label, icon, children }: DisclosureProps) {
  const details = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (details.current !== null) details.current.open = false
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape') return
    close()
    details.current?.querySelector('summary')?.focus()
  }
  return (
    <details
      ref={details}
      className="aldis-disclosure"
      onKeyDown={onKeyDown}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) close()
      }}
    >
      <summary aria-label={label} title={label}>
        {icon}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: buttons and links in it click by key */}
      <div onClick={close}>{children}</div>
    </details>
  )
}
