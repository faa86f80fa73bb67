/** What a person can act on is one line; a defect of ours comes with its stack. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isDefect = error instanceof TypeError || error instanceof ReferenceError || error.message === ''
  return isDefect ? (error.stack ?? error.name) : error.message
}
