import { type Command, Option } from 'commander'
import { repeated } from './admin-client.ts'
import { readStandardInput } from './standard-input.ts'

export interface WebhookOptions {
  readonly webhookHeader?: readonly string[]
  /** False: `--no-webhook-headers`. */
  readonly webhookHeaders?: boolean
  readonly webhookBasic?: string | false
}

const BASIC_VARIABLE = 'ALDIS_WEBHOOK_BASIC'

/** Adds `--webhook-header`, `--webhook-basic` and, for changes, their `--no-…` forms. */
export function addWebhookOptions(command: Command, change: boolean): Command {
  const basic = new Option(
    '--webhook-basic <user:password>',
    'Basic credentials for its webhooks; - reads them from standard input, so that they are not visible',
  )
  command
    .option(
      '--webhook-header <header>',
      "header of its webhooks, such as 'X-Api-Key: value'; may be repeated, replaces all current ones; - reads lines from standard input",
      repeated,
    )
    // A change of something else must not set what happens to be in the environment.
    .addOption(change ? basic : basic.env(BASIC_VARIABLE))
  if (!change) return command
  return command
    .addOption(
      new Option('--no-webhook-headers', 'remove its headers, except --webhook-basic').conflicts(
        'webhookHeader',
      ),
    )
    .option('--no-webhook-basic', 'remove its Basic credentials')
}

/**
 * The API's `webhookHeaders` and `webhookCredentials`; what was not given is undefined. Not by option parsers: commander
 * quotes the value in its errors.
 */
export function webhookFields(options: WebhookOptions): {
  webhookHeaders: unknown
  webhookCredentials: unknown
} {
  const { webhookHeader, webhookBasic } = options
  if (webhookHeader?.includes('-') && webhookBasic === '-')
    throw new Error('only one of --webhook-header and --webhook-basic can be read from standard input')
  return {
    webhookHeaders: options.webhookHeaders === false ? [] : webhookHeader && headersOf(webhookHeader),
    webhookCredentials: webhookBasic === false ? null : webhookBasic && credentialsOf(webhookBasic),
  }
}

function headersOf(given: readonly string[]): { name: string; value: string }[] {
  const lines = given.flatMap((text) =>
    text === '-'
      ? readStandardInput()
          .split(/\r?\n/)
          .filter((line) => line !== '')
      : [text],
  )
  return lines.map((line) => {
    const [, name, value] = /^([^:]*):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new Error("a webhook header is a name, a colon and a value, such as 'X-Api-Key: value'")
    return { name, value }
  })
}

function credentialsOf(given: string): { username: string; password: string } {
  const text = given === '-' ? readStandardInput() : given
  const colon = text.indexOf(':')
  if (colon === -1) throw new Error('expected Basic credentials: a user name, a colon and a password')
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}
