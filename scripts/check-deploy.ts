/**
 * Lets promtool check the rules in `deploy/prometheus` and run their tests, and systemd-analyze check the unit. Says so
 * where one of them is not installed.
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { PROMETHEUS } from './deploy-files.ts'

interface Check {
  readonly tool: string
  /** Debian's package. */
  readonly from: string
  readonly cwd: string
  readonly args: readonly string[]
}

const promtool = { tool: 'promtool', from: 'prometheus', cwd: PROMETHEUS }
const CHECKS: readonly Check[] = [
  { ...promtool, args: ['check', 'config', 'prometheus.yml'] },
  { ...promtool, args: ['check', 'rules', '--lint-fatal', 'aldis.rules.yml'] },
  { ...promtool, args: ['test', 'rules', 'aldis.rules.test.yml'] },
  { tool: 'systemd-analyze', from: 'systemd', cwd: dirname(PROMETHEUS), args: ['verify', 'aldis.service'] },
]

/** What is wrong; null: nothing. systemd-analyze exits with 0 even after a warning. */
function verdict({ tool, from, args, cwd }: Check): string | null | 'not checked' {
  const { error, status, stdout, stderr } = spawnSync(tool, args, { cwd, encoding: 'utf8' })
  if (error !== undefined) {
    process.stdout.write(`not checked: ${args.at(-1)}, because ${tool} is not installed (Debian: ${from})\n`)
    return 'not checked'
  }
  const isFine = status === 0 && (tool === promtool.tool || stdout + stderr === '')
  return isFine ? null : stdout + stderr
}

const failed = CHECKS.map(verdict).filter((said) => said !== null && said !== 'not checked')
process.stdout.write(`${failed.join('')}${CHECKS.length} checks, ${failed.length} failed\n`)
if (failed.length > 0) process.exitCode = 1
