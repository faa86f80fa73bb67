import { AdminRefusal, type ConnectionOptions, requestAdmin } from './client.ts'
import type { Operation } from './document.ts'
import { type Input, valuesOf } from './inputs.ts'

/** One command as it was given. */
export interface Call {
  readonly operation: Operation
  readonly inputs: readonly Input[]
  readonly options: ConnectionOptions & Readonly<Record<string, unknown>>
  /** With its parameters filled in. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined where the operation has none. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

type Given = Parameters<typeof valuesOf>[2]

export function callOf(
  operation: Operation,
  inputs: readonly Input[],
  options: Call['options'],
  given: Given,
): Call {
  const texts = inputs.filter(({ isArgument }) => !isArgument).flatMap((input) => [given(input)].flat())
  if (texts.filter((text) => text === '-').length > 1)
    throw new Error('only one option can be read from standard input')
  const parameters = valuesOf(inputs, 'path', given)
  return {
    operation,
    inputs,
    options,
    path: operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(parameters[name])),
    ),
    query: valuesOf(inputs, 'query', given),
    body: operation.body.length === 0 ? undefined : valuesOf(inputs, 'body', given),
  }
}

/** Sends the request, with other values for some of its fields. The faults of a refusal name options. */
export async function request<Answer>(
  call: Call,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { operation, inputs, options, path } = call
  const query = new URLSearchParams()
  const body = call.body && { ...call.body, ...more }
  for (const [name, value] of Object.entries({ ...call.query, ...(body === undefined && more) }))
    query.set(name, String(value))
  const target = query.size === 0 ? path : `${path}?${query}`
  try {
    return (await requestAdmin(options, operation.method, target, body)) as Answer
  } catch (error) {
    throw error instanceof AdminRefusal ? error.withNames((field) => inputName(inputs, field)) : error
  }
}

/** An answer that is one part of the whole, and says where the next begins; null: it was the last. */
export interface Part {
  readonly nextAfter: string | null
}

/** Repeats the request until the last part has been answered. */
export async function* parts<Answer extends Part>(call: Call): AsyncGenerator<Answer> {
  for (let more = {}; ; ) {
    const part = await request<Answer>(call, more)
    yield part
    if (part.nextAfter === null) return
    more = { after: part.nextAfter }
  }
}

/** `optOut.stopWords.0` -> `--stop-word 0`. */
function inputName(inputs: readonly Input[], field: string): string {
  const [input] = inputs
    .filter(({ path }) => `${field}.`.startsWith(`${path.join('.')}.`))
    .sort((a, b) => b.path.length - a.path.length)
  if (input === undefined || input.isArgument) return field
  const variable = input.variable === undefined ? '' : ` or ${input.variable}`
  return [`--${input.name}${variable}`, ...field.split('.').slice(input.path.length)].join(' ')
}
