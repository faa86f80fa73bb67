import type { Command } from 'commander'
import type { Finding } from '../domain/diagnosis.ts'

const EXAMPLES = `
Exit codes: 0 without faults, 1 with faults. Warnings are not faults.

Example:
  aldis doctor     in the environment of a node: with its DATABASE_URL, SECRET_KEY and OPERATOR_TOKEN

docs/doctor.md describes the checks.`

/** Adds `aldis doctor`: looks at everything a node needs, and changes nothing. */
export function register(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check the database, clock, secrets, nodes, carriers and webhook receivers, and say what to do',
    )
    .option('--json', 'Print the findings as JSON')
    .addHelpText('after', EXAMPLES)
    .action(examine)
}

async function examine({ json }: { json?: true }): Promise<void> {
  const { EMBEDDED_DATABASE } = await import('../database-url.ts')
  const { loadConfig } = await import('../config.ts')
  const loaded = loadConfig()
  if (!loaded.ok)
    throw new Error(`the configuration has faults\n${loaded.faults.map((fault) => `  ${fault}`).join('\n')}`)
  const { config } = loaded
  if (config.databaseUrl === EMBEDDED_DATABASE)
    throw new Error('the database of DATABASE_URL=embedded belongs to the node that runs it: see its log')
  const { diagnose } = await import('../app/diagnose.ts')
  const { callbackPolicyOf } = await import('./node-options.ts')
  const { printJson } = await import('./admin/printing.ts')
  const options = {
    ...config,
    connectionString: config.databaseUrl,
    callbackPolicy: callbackPolicyOf(config),
  }
  const findings: Finding[] = []
  for await (const finding of diagnose(options)) {
    findings.push(finding)
    if (!json) printFinding(finding)
  }
  if (json) printJson({ findings })
  else process.stdout.write(`${summaryOf(findings)}\n`)
  if (findings.some(({ level }) => level === 'fault')) process.exitCode = 1
}

const LEVEL_WIDTH = 9
const CHECK_WIDTH = 14

/** At once: connecting to a carrier may take seconds. */
function printFinding({ check, level, found, advice }: Finding): void {
  process.stdout.write(`${level.padEnd(LEVEL_WIDTH)}${check.padEnd(CHECK_WIDTH)}  ${found}\n`)
  if (advice !== null) process.stdout.write(`${' '.repeat(LEVEL_WIDTH + CHECK_WIDTH)}  -> ${advice}\n`)
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length
  return `${findings.length} checks: ok ${count('ok')}, warnings ${count('warning')}, faults ${count('fault')}`
}
