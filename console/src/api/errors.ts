import { AldisError } from '../../../client/src/errors.ts'

/** An error as people read it. */
export interface Explained {
  readonly title: string
  readonly detail: string
  /** By which the operator finds the request in the log. */
  readonly requestId: string | null
  /** Field -> what is wrong with it. */
  readonly faults: Readonly<Record<string, string>>
}

const NO_FAULTS = {}

export function explain(error: unknown): Explained {
  if (error instanceof AldisError) return explainAnswer(error)
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return plain('The service took too long', 'It did not answer in 30 seconds. Try again.')
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message))
    return plain('The service cannot be reached', 'Check your connection and whether the service is running.')
  return plain('Something went wrong', error instanceof Error ? error.message : String(error))
}

function plain(title: string, detail: string): Explained {
  return { title, detail, requestId: null, faults: NO_FAULTS }
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'Your session has ended',
  403: 'Your token does not allow this',
  404: 'Not found',
  409: 'This conflicts with what is there',
  429: 'Too many requests',
  503: 'The service is busy',
}

function explainAnswer({ status, body, errors, requestId, retryAfterSeconds }: AldisError): Explained {
  const { errorMessage } = body as { errorMessage?: string }
  const wait = retryAfterSeconds === null ? '' : ` Try again in ${retryAfterSeconds} s.`
  return {
    title: TITLES[status] ?? (status < 500 ? 'The service refused this' : 'The service failed'),
    detail: `${errorMessage ?? `Status ${status}, without an explanation`}.${wait}`.replace('..', '.'),
    requestId,
    faults: Object.fromEntries(errors.map(({ field, message }) => [field, message])),
  }
}
