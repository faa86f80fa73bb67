/** A listener of a node that does not listen, with the code of the system. */
export class ListenError extends Error {
  readonly code: string | undefined
  readonly listener: 'http' | 'operators'

  constructor(listener: 'http' | 'operators', cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
    this.listener = listener
  }
}
