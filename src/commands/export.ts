import type { Command } from 'commander'
import { addConnectionOptions } from './admin/client.ts'
import type { ExportOptions } from './configuration/exported-files.ts'

const EXAMPLES = `
Examples:
  aldis export > aldis.yaml
  aldis export -o live/aldis.yaml --tables live    rates and number ranges in rates.csv and ranges.csv`

/** Adds `aldis export`. */
export function register(program: Command): void {
  const command = program
    .command('export')
    .description('Print the configuration as a file that aldis apply takes, without secrets and tokens')
    .option('-o, --output <file>', 'Write to this file; paths of CSV files are then relative to it')
    .option('--tables <folder>', 'Write rates and number ranges to CSV files in this folder')
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExportOptions) => {
      const { exportConfiguration } = await import('./configuration/exported-files.ts')
      await exportConfiguration(options)
    })
}
