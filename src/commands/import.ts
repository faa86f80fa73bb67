import type { Command } from 'commander'
import type { ImportedConfiguration, Place } from './import/imported-configuration.ts'
import type { Gateway } from './import/read-source.ts'

const EXAMPLES = `
Examples:
  aldis import kannel /etc/kannel/kannel.conf -o moved
  aldis import jasmin jcli.txt                            the saved output of jcli

docs/from-kannel.md and docs/from-jasmin.md say what to do before and after.`

interface Options {
  readonly output: string
  readonly force?: true
  readonly json?: true
}

/** Adds `aldis import`. */
export function register(program: Command): void {
  program
    .command('import')
    .description(
      'Write aldis.yaml and secrets.env from the configuration of Kannel or Jasmin; nothing is sent',
    )
    .argument('<file...>', 'kannel or jasmin, and the file; the gateway is recognised by the file if omitted')
    .option('-o, --output <folder>', 'Folder to write to', '.')
    .option('--force', 'Overwrite aldis.yaml and secrets.env')
    .option('--json', 'Print the report as JSON')
    .addHelpText('after', EXAMPLES)
    .action(importConfiguration)
}

async function importConfiguration(args: readonly string[], options: Options): Promise<void> {
  const { GATEWAYS, importFiles } = await import('./import/read-source.ts')
  const { writeFiles } = await import('./import/written-files.ts')
  const gateway = GATEWAYS.find((name) => name === args[0]) ?? null
  const files = gateway === null ? args : args.slice(1)
  if (files.length === 0) throw new Error(`name the file: aldis import ${gateway} FILE`)
  const imported = importFiles(gateway as Gateway | null, files)
  const { output: folder, force = false } = options
  const written = writeFiles(imported, { folder, force, source: files.join(', ') })
  await printReport(imported, written, options)
}

/** In the order of the files, whichever part of the import found it. */
function sorted<Row extends Place>(rows: readonly Row[]): Row[] {
  const files = [...new Set(rows.map(({ file }) => file))]
  return rows.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line)
}

function placed<Row extends Place>(rows: readonly Row[]): (Row & { place: string })[] {
  return rows.map((row) => ({ ...row, place: `${row.file}:${row.line}` }))
}

async function printReport(
  imported: ImportedConfiguration,
  written: readonly string[],
  options: Options,
): Promise<void> {
  const { printAnswer, printJson } = await import('./admin/printing.ts')
  const carried = sorted(imported.carried)
  const dropped = sorted(imported.dropped)
  if (options.json) return printJson({ files: written, carried, dropped })
  const print = (text: string) => process.stdout.write(`${text}\n`)
  print(carried.length === 0 ? 'Nothing was carried over.' : 'Carried over:')
  if (carried.length > 0) printAnswer({ carried: placed(carried) }, { carried: 'place setting object as' })
  print('\nNot carried over, or not as it was:')
  printAnswer({ dropped: placed(dropped) }, { dropped: 'place setting why' })
  const counts = [...imported.objects].map(([kind, all]) => `${kind} ${all.size}`)
  print(`\nWrote ${written.join(' and ')}: ${counts.join(', ')}. All carriers are stopped.`)
}
