import { Code } from '@mantine/core'

/** The beginning of an answer, behind its heading. Nothing where there was none. */
export function AnswerHead({ head, isOpen = true }: { head: string | null; isOpen?: boolean }) {
  if (head === null || head === '') return null
  return (
    <details className="webhook-answer" open={isOpen}>
      <summary>Head of the answer</summary>
      {/* Focusable, so that the keyboard scrolls it. */}
      <Code block tabIndex={0} role="region" aria-label="Head of the answer" mah={200}>
        {head}
      </Code>
    </details>
  )
}
