import type { ResponsePdu } from './pdu.ts'
import type { CloseReason } from './session-handlers.ts'

/** A promise of `request` or `whenBound` that cannot be kept. */
export class SmppRequestError extends Error {
  override readonly name = 'SmppRequestError'
  readonly code: 'not_sent' | 'timeout' | 'closed'
  /** For `closed`: why the session ended. The outcome of the request is unknown, as for `timeout`. */
  readonly reason: CloseReason | null

  constructor(code: SmppRequestError['code'], reason: CloseReason | null = null) {
    super(reason === null ? code : `${code}: ${reason.code}`, { cause: reason?.error })
    this.code = code
    this.reason = reason
  }
}

/** The token of a request made through `request`. */
export class PromisedRequest {
  readonly #resolvers = Promise.withResolvers<ResponsePdu>()
  readonly promise = this.#resolvers.promise
  readonly resolve = this.#resolvers.resolve
  readonly reject = this.#resolvers.reject
}
