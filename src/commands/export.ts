import type { Command } from 'commander'
import { addConnectionOptions, type ConnectionOptions } from './admin/client.ts'

const EXAMPLES = `
Examples:
  aldis export > aldis.yaml
  aldis export --tables . > aldis.yaml    rates and number ranges in rates.csv and ranges.csv`

/** Adds `aldis export`. */
export function register(program: Command): void {
  const command = program
    .command('export')
    .description('Print the configuration as a file that aldis apply takes, without secrets and tokens')
    .option('--tables <folder>', 'Write rates and number ranges to CSV files in this folder')
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ConnectionOptions & { tables?: string }) => {
      const { exportConfiguration } = await import('./configuration/exported-files.ts')
      await exportConfiguration(options)
    })
}
