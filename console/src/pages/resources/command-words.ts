import type { ShellWord } from '../../kit/shell-word.ts'
import type { Field, Operation } from './operations.ts'
import type { Values } from './values.ts'

/** The command line of a request: the reverse of what `aldis` makes of its arguments and options. */
export function commandWords({ command, inputs }: Operation, request: Values): ShellWord[] {
  const options = inputs.filter(({ isArgument }) => !isArgument)
  const names = inputs.filter(({ isArgument }) => isArgument)
  return [
    ...command,
    ...names.map(({ path: [field] }) => text(request[field] ?? `<${field}>`)),
    ...options.flatMap(({ path: [field, part], option, clears, control }) => {
      const whole = request[field]
      const value = part === undefined ? whole : (whole as Values | null | undefined)?.[part]
      if (value === undefined || (part !== undefined && whole === null)) return []
      if (isCleared(value)) return clears ? [`--no-${option}`] : []
      if (value === true || control?.kind === 'group') return [`--${option}`]
      if (field === 'password') return [`--${option}`, passwordWord(command)]
      return written(field, value, control?.fields ?? control?.item?.fields).flatMap((word) => [
        `--${option}`,
        word,
      ])
    }),
  ]
}

function isCleared(value: unknown): boolean {
  if (value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** One word for each time that the option is given. */
function written(field: string, value: unknown, fields: readonly Field[] | undefined): ShellWord[] {
  if (Array.isArray(value)) {
    if (fields === undefined) return [value.join(',')]
    return value.map((each: Values) => secretWord(field, each) ?? pieces(fields, each))
  }
  const secret = secretWord(field, value)
  if (secret !== undefined) return [secret]
  if (typeof value !== 'object') return [text(value)]
  if (fields !== undefined) return [pieces(fields, value as Values)]
  return Object.entries(value as Values).map(([key, each]) => `${key}=${each}`)
}

/** `acme:0:3`. What is omitted in the middle is what the service would take. */
function pieces(fields: readonly Field[], value: Values): string {
  const last = fields.findLastIndex(({ name }) => value[name] !== undefined)
  return fields
    .slice(0, last + 1)
    .map(({ name, control }) => text(value[name] ?? control.fallback ?? ''))
    .join(':')
}

/** A secret is a variable of the shell: a command line is kept in its history. */
function secretWord(field: string, value: unknown): ShellWord | undefined {
  if (field === 'webhookCredentials') return { verbatim: '"$ALDIS_WEBHOOK_BASIC"' }
  if (field === 'webhookHeaders') {
    const { name = '' } = value as { name?: string }
    return { verbatim: `'${name.replaceAll("'", '')}':"$${variable(name)}"` }
  }
  // https://user:password@host
  if (typeof value === 'string' && /\/\/[^/]*@/.test(value)) return { verbatim: `"$${variable(field)}"` }
  return undefined
}

/** The variable that the command itself reads: ALDIS_CARRIER_PASSWORD, ALDIS_SENDSMS_PASSWORD. */
function passwordWord([noun = '']: readonly string[]): ShellWord {
  return { verbatim: `"$ALDIS_${noun.split('-')[0]!.toUpperCase()}_PASSWORD"` }
}

/** `X-Api-Key` -> `X_API_KEY` */
function variable(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').replace(/\W+/g, '_')
  return /^[A-Za-z_]/.test(words) ? words.toUpperCase() : `HEADER_${words.toUpperCase()}`
}

function text(value: unknown): string {
  return String(value)
}
