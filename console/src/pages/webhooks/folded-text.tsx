import { Code } from '@mantine/core'

/** What was sent or answered, behind its heading. Nothing where there was none. */
export function FoldedText({
  name,
  text,
  isOpen = true,
}: {
  name: string
  text: string | null
  isOpen?: boolean
}) {
  if (text === null || text === '') return null
  return (
    <details className="webhook-text" open={isOpen}>
      <summary>{name}</summary>
      {/* Focusable, so that the keyboard scrolls it. */}
      <Code block tabIndex={0} role="region" aria-label={name} mah={200}>
        {text}
      </Code>
    </details>
  )
}
