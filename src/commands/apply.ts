import type { Command } from 'commander'
import { addFileOptions, sendConfiguration } from './configuration/service-configuration.ts'

const EXAMPLES = `
Examples:
  aldis apply -f aldis.yaml
  aldis apply -f customers.yaml -f carriers.yaml --prune --confirm rates=1200
  aldis diff -f aldis.yaml && aldis apply -f aldis.yaml --if-match 17

docs/configuration-as-a-file.md describes the files.`

/** Adds `aldis apply`. */
export function register(program: Command): void {
  const command = program
    .command('apply')
    .description(
      'Create and update objects as configuration files say, all or none. Omitted settings keep their values.',
    )
    .option('--if-match <version>', 'Apply only if the configuration has this version')
  addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      await sendConfiguration(options, { dryRun: false })
    })
}
