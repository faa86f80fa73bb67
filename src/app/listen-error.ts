/** A listener could not listen. Has the system's error code. */
export class ListenError extends Error {
  readonly code: string | undefined
  readonly listener: 'http' | 'operators'

  constructor(listener: 'http' | 'operators', cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
    this.listener = listener
  }
}
