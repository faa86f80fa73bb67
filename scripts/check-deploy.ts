/**
 * Lets Prometheus' own promtool check the rules and the example configuration in `deploy/prometheus`, and run the tests of
 * the rules. Says so where promtool is not installed.
 */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { PROMETHEUS } from './deploy-files.ts'

const PROMTOOL = 'promtool'
const CHECKS = [
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', '--lint-fatal', 'aldis.rules.yml'],
  ['test', 'rules', 'aldis.rules.test.yml'],
]

const promtool = (args: readonly string[], options: SpawnSyncOptions) => spawnSync(PROMTOOL, args, options)

if (promtool(['--version'], {}).error === undefined) {
  const failed = CHECKS.filter((args) => promtool(args, { cwd: PROMETHEUS, stdio: 'inherit' }).status !== 0)
  process.stdout.write(`${CHECKS.length} checks by promtool, ${failed.length} failed\n`)
  if (failed.length > 0) process.exitCode = 1
} else process.stdout.write('promtool is not installed (Debian: prometheus): the rules were not checked\n')
