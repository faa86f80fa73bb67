/** Why the embedded server cannot be had. */
export type EmbeddedPostgresErrorCode =
  | 'UNSUPPORTED_PLATFORM'
  | 'DATA_DIR_UNWRITABLE'
  | 'DATA_DIR_IN_USE'
  | 'NO_UNPRIVILEGED_ACCOUNT'
  | 'INIT_FAILED'
  | 'LEFTOVER_SERVER'
  | 'PORT_IN_USE'
  | 'START_FAILED'

/** The message is one line, fit to be shown to whoever started the program. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, '; '), options)
    this.code = code
  }
}
