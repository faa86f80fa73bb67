import type { Command } from 'commander'

/** Adds `aldis migrate`: brings the schema of DATABASE_URL up to date and ends. */
export function register(program: Command): void {
  program
    .command('migrate')
    .description('Migrate the schema of DATABASE_URL (aldis serve does this too)')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgresql://aldis:password@db.example.net/aldis aldis migrate',
    )
    .action(async () => {
      const { databaseUrlOf } = await import('../config.ts')
      const { migrate } = await import('../store/migrate.ts')
      const { applied, newer } = await migrate({
        connectionString: databaseUrlOf(),
        log: (line) => process.stderr.write(`${line}\n`),
      })
      const done = applied.length === 0 ? 'The schema is up to date.' : `Applied: ${applied.join(', ')}`
      const beyond = `The schema is that of a newer version, with which this one can work: ${newer.join(', ')}`
      process.stdout.write(`${newer.length === 0 ? done : beyond}\n`)
    })
}
