import { type Command, Option } from 'commander'

/** The CLI's side of `/admin/v1`: connection options, requests, and failures worded for a person. */

export interface ConnectionOptions {
  readonly url: string
  readonly operatorToken?: string
  readonly json?: boolean
}

/** Adds `--url`, `--operator-token` and `--json`. */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'Address of the service').env('ALDIS_URL').default('http://localhost:8080'),
    )
    .addOption(new Option('--operator-token <token>', 'Operator token').env('ALDIS_OPERATOR_TOKEN'))
    .option('--json', 'Print JSON for programs')
}

const TIMEOUT_MS = 30_000

/** What few requests need. */
interface RequestSettings {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

interface Fault {
  readonly field: string
  readonly message: string
}

interface ErrorBody {
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly errors?: readonly Fault[]
}

/** The service understood the request and did not do it. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal'
  readonly status: number
  readonly summary: string
  readonly faults: readonly Fault[]

  constructor(status: number, summary: string, faults: readonly Fault[] = []) {
    const listed = faults.map(({ field, message }) => `${field} ${message}`).join('; ')
    super(listed === '' ? summary : `${summary}: ${listed}`)
    this.status = status
    this.summary = summary
    this.faults = faults
  }

  /** The same refusal with other names of the fields. */
  withNames(nameOf: (field: string) => string): AdminRefusal {
    const faults = this.faults.map(({ field, message }) => ({ field: nameOf(field), message }))
    return new AdminRefusal(this.status, this.summary, faults)
  }
}

/** Sends one request below `/admin/v1`; returns the parsed answer, undefined when it has no body. Throws Error. */
export async function requestAdmin(
  options: ConnectionOptions,
  method: string,
  path: string,
  body?: unknown,
  more: RequestSettings = {},
): Promise<unknown> {
  const { operatorToken } = options
  if (operatorToken === undefined || operatorToken === '') {
    throw new Error('an operator token is needed: set ALDIS_OPERATOR_TOKEN or give --operator-token')
  }
  if (!/^[\x21-\x7e]+$/.test(operatorToken)) {
    throw new Error('the operator token has invalid characters')
  }
  return await requestService(
    { url: options.url, token: operatorToken, kind: 'operator token' },
    method,
    `/admin/v1${path}`,
    body,
    more,
  )
}

/** The same with the token and the path of either API. `kind`: what an error calls the token. */
export async function requestService(
  { url, token, kind = 'token' }: { url: string; token: string; kind?: string },
  method: string,
  path: string,
  body?: unknown,
  { headers = {}, timeoutMs = TIMEOUT_MS }: RequestSettings = {},
): Promise<unknown> {
  const answer = await exchange(url, path, timeoutMs, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const parsed = parseBody(answer.text)
  if (answer.status >= 200 && answer.status < 300) return parsed
  const refusal = parsed as ErrorBody | undefined
  const summary = summaryOf(answer.status, refusal, { url, kind })
  throw new AdminRefusal(answer.status, summary, refusal?.errors)
}

/** An HTTP exchange with any outcome. Throws Error, with a `cause` if there was no answer. */
export async function exchange(
  base: string,
  path: string,
  timeoutMs: number,
  init: RequestInit,
): Promise<{ status: number; headers: Headers; text: string }> {
  const url = URL.parse(`${base.replace(/\/+$/, '')}${path}`)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`not the address of a service: ${base} (expected something like http://localhost:8080)`)
  }
  if (url.username !== '' || url.password !== '')
    throw new Error('the address of the service must have no user name and no password')
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { ...init, redirect: 'error', signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    throw new Error(`cannot reach ${base}: ${explainFailure(error, timeoutMs)}`, { cause: error })
  }
}

const NO_CONNECTION: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']

/** Whether nothing was sent. `failure` is the cause of what `exchange` throws. */
export function hadNoConnection(failure: unknown): boolean {
  return NO_CONNECTION.includes(codeOf(failure))
}

function codeOf(failure: unknown): unknown {
  return ((failure as Error).cause as NodeJS.ErrnoException | undefined)?.code
}

export function parseBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function explainFailure(error: unknown, timeoutMs: number): string {
  const { cause, name } = error as Error
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') {
    return 'connection refused. Is the service running? Set another address with --url or ALDIS_URL'
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no such host'
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`
  return (cause as Error | undefined)?.message || (error as Error).message
}

function summaryOf(
  status: number,
  body: ErrorBody | undefined,
  { url, kind }: { url: string; kind: string },
): string {
  if (body?.errorCode === undefined) return `${url} answered ${status}, not as Aldis does`
  if (status === 401) return `the service does not know this ${kind}`
  return body.errorMessage ?? body.errorCode
}
