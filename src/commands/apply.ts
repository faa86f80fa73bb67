import { type Command, InvalidArgumentError } from 'commander'
import { addFileOptions } from './configuration/file-options.ts'

const EXAMPLES = `
Examples:
  aldis apply -f aldis.yaml
  aldis apply -f customers.yaml -f carriers.yaml --prune --confirm rates=1200
  aldis apply -f aldis.yaml --if-match 17    17 is the version that aldis diff has printed

docs/configuration-as-a-file.md describes the files.`

/** Adds `aldis apply`. */
export function register(program: Command): void {
  const command = program
    .command('apply')
    .description(
      'Create and update objects as configuration files say, all or none. Omitted settings keep their values.',
    )
    .option('--if-match <version>', 'Apply only if the configuration has this version', version)
  addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      const { sendConfiguration } = await import('./configuration/service-configuration.ts')
      await sendConfiguration(options, { dryRun: false })
    })
}

function version(text: string): string {
  if (/^[0-9]{1,19}$/.test(text)) return text
  throw new InvalidArgumentError('expected the number that aldis diff prints')
}
