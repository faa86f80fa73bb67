#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'

/** A file of `commands/` adds one command to the program. Heavy modules are imported inside its actions. */
interface CommandModule {
  readonly register: (program: Command) => void
}

/** In the order of the help text. Only the one that is run is loaded. */
const COMMANDS = new Map<string, () => Promise<CommandModule>>([
  ['dev', () => import('./commands/dev.ts')],
  ['serve', () => import('./commands/serve.ts')],
  ['migrate', () => import('./commands/migrate.ts')],
  ['listen', () => import('./commands/listen.ts')],
  ['simulate-carrier', () => import('./commands/simulate-carrier.ts')],
  ['account', () => import('./commands/account.ts')],
  ['plan', () => import('./commands/plan.ts')],
  ['token', () => import('./commands/token.ts')],
  ['sender', () => import('./commands/sender.ts')],
  ['sender-rule', () => import('./commands/sender-rule.ts')],
  ['number', () => import('./commands/number.ts')],
  ['opt-out', () => import('./commands/opt-out.ts')],
  ['carrier', () => import('./commands/carrier.ts')],
  ['route', () => import('./commands/route.ts')],
  ['number-range', () => import('./commands/number-range.ts')],
  ['rate', () => import('./commands/rate.ts')],
  ['message', () => import('./commands/message.ts')],
  ['inbound', () => import('./commands/inbound.ts')],
  ['webhook', () => import('./commands/webhook.ts')],
  ['quality', () => import('./commands/quality.ts')],
])

const EXAMPLES = `
Examples:
  aldis dev                                   the whole service on this machine, with a simulated carrier
  aldis serve                                 the service, configured by the environment
  aldis account create --name "Example Ltd"   an account, over the HTTP API of a running service`

async function buildProgram(name: string | undefined): Promise<Command> {
  const program = new Command('aldis')
    .description('Self-hosted SMS: REST in, SMPP out, receipts and inbound messages by webhook.')
    .version(version(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
    .addHelpText('after', EXAMPLES)
  const wanted = name === undefined ? undefined : COMMANDS.get(name)
  for (const load of wanted === undefined ? COMMANDS.values() : [wanted]) {
    const { register } = await load()
    register(program)
  }
  return program
}

async function main(argv: readonly string[]): Promise<void> {
  try {
    const program = await buildProgram(argv[0])
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    // Commander has already said what is wrong, or printed what was asked for.
    process.exitCode = error instanceof CommanderError ? error.exitCode : 1
    if (!(error instanceof CommanderError)) process.stderr.write(`error: ${explain(error)}\n`)
  }
}

/** What a person can act on is one line; a defect of ours comes with its stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isDefect = error instanceof TypeError || error instanceof ReferenceError || error.message === ''
  return isDefect ? (error.stack ?? error.name) : error.message
}

/** Commander puts its suggestion on a line of its own. */
function oneLine(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, ' ')}\n`
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

// `aldis … | head` closes the pipe: what is not read need not be written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

await main(process.argv.slice(2))
