import { Command, CommanderError } from 'commander'
import { packageVersion } from '../app/build-info.ts'
import { addCompletion } from './completion.ts'
import { explainError } from './explain-error.ts'

/** A file of this folder adds one command to the program. Heavy modules are imported inside its actions. */
interface CommandModule {
  readonly register: (program: Command) => void
}

/** In the order of the help text, before the nouns of the admin API. Only the command that runs is loaded. */
const COMMANDS = new Map<string, () => Promise<CommandModule>>([
  ['dev', () => import('./dev.ts')],
  ['serve', () => import('./serve.ts')],
  ['migrate', () => import('./migrate.ts')],
  ['doctor', () => import('./doctor.ts')],
  ['send', () => import('./send.ts')],
  ['listen', () => import('./listen.ts')],
  ['simulate-carrier', () => import('./simulate-carrier.ts')],
  ['apply', () => import('./apply.ts')],
  ['diff', () => import('./diff.ts')],
  ['export', () => import('./export.ts')],
  ['import', () => import('./import.ts')],
])

const EXAMPLES = `
Examples:
  aldis dev                                   the whole service on this machine, with a simulated carrier
  aldis serve                                 the service, configured by the environment
  aldis account create --name "Example Ltd"   an account, over the HTTP API of a running service`

/** Runs `aldis` with these arguments. Never rejects: a failure is said on standard error and sets the exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  try {
    const [first, ...others] = argv
    // Commander's own `help` knows the first level only.
    const words = first === 'help' ? [...others, '--help'] : argv
    const program = await buildProgram(words[0])
    await program.parseAsync(withoutHelp(program, words), { from: 'user' })
  } catch (error) {
    // Commander has already said what is wrong, or printed what was asked for.
    process.exitCode = error instanceof CommanderError ? error.exitCode : 1
    if (!(error instanceof CommanderError)) process.stderr.write(`error: ${explainError(error)}\n`)
  }
}

/** Of a command that does not exist, commander would show the help of all, and not say so. */
function withoutHelp(program: Command, words: readonly string[]): readonly string[] {
  const [name = '--help'] = words
  const exists = name.startsWith('-') || program.commands.some((command) => command.name() === name)
  return exists ? words : [name]
}

async function buildProgram(name: string | undefined): Promise<Command> {
  const program = new Command('aldis')
    .description('Self-hosted SMS: REST in, SMPP out, receipts and inbound messages by webhook.')
    .version(packageVersion(), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand('help [command]', 'Show the help of a command')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
    .addHelpText('after', EXAMPLES)
  const command = name !== undefined && COMMANDS.get(name)
  if (command) (await command()).register(program)
  else await addOthers(program, name)
  addCompletion(program)
  return program
}

/** Adds the noun of this name. If there is none, adds every command, for the help and for suggestions. */
async function addOthers(program: Command, name: string | undefined): Promise<void> {
  // They read the OpenAPI document of the admin API, which the commands above do not need.
  const { addNoun, nouns } = await import('./admin/commands.ts')
  if (name !== undefined && nouns().includes(name)) return addNoun(program, name)
  for (const load of COMMANDS.values()) (await load()).register(program)
  for (const noun of nouns()) addNoun(program, noun)
}

/** Commander puts its suggestion on a line of its own. */
function oneLine(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, ' ')}\n`
}
