import type { Command } from 'commander'
import { addFileOptions } from './configuration/file-options.ts'

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
      const { sendConfiguration } = await import('./configuration/service-configuration.ts')
      if (await sendConfiguration(options, { dryRun: true })) process.exitCode = DIFFERENT
    })
}
