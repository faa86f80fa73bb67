import type { Command } from 'commander'
import { addFileOptions, sendConfiguration } from './configuration/service-configuration.ts'

const EXAMPLES = `
Exit codes: 0 without differences, 2 with differences, 1 for an error.

Examples:
  aldis diff -f aldis.yaml
  aldis export | aldis diff -f - --prune`

const DIFFERENT = 2

/** Adds `aldis diff`. */
export function register(program: Command): void {
  const command = program
    .command('diff')
    .description('Show what aldis apply would change, and change nothing')
  addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options) => {
      if (await sendConfiguration(options, { dryRun: true })) process.exitCode = DIFFERENT
    })
}
