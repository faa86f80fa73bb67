import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runAldis } from '../support/cli.ts'

/** What bash offers for a line whose last word is being written. */
async function completed(...words: string[]): Promise<string[]> {
  const { stdout } = await runAldis(['completion', 'bash'])
  const line = ['aldis', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${stdout}\nCOMP_WORDS=(${line})\nCOMP_CWORD=${words.length}\n_aldis\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const bash = spawnSync('bash', ['--norc', '-u', '-c', script], { encoding: 'utf8' })
  expect([bash.status, bash.stderr]).toEqual([0, ''])
  return bash.stdout.split('\n').filter((word) => word !== '')
}

test('bash completes commands, verbs and options', async () => {
  expect(await completed('car')).toEqual(['carrier'])
  expect(await completed('routing-rule', 'c')).toEqual(['create'])
  expect(await completed('carrier', 'dr')).toEqual(['drain'])
  expect(await completed('carrier', 'update', 'acme', '--no-tls-')).toEqual([
    '--no-tls-ca',
    '--no-tls-server-name',
  ])
  expect(await completed('carrier', 'update', '--host', 'list', '--win')).toEqual(['--window'])
  expect(await completed('sender', 'update', '--st')).toEqual(['--status'])
  expect(await completed('dev', 'in')).toEqual(['inbound'])
  expect(await completed('completion', '--h')).toEqual(['--help'])
  expect(await completed('serve', '--')).toEqual(['--carriers-stopped', '--workers', '--help'])
})

test('bash asks for completions of the word at the cursor', async () => {
  const { stdout } = await runAldis(['completion', 'bash'])
  const bash = spawnSync('bash', ['--norc', '-c', `${stdout}\ncomplete -p aldis`], { encoding: 'utf8' })
  expect(bash.stdout).toBe('complete -o default -F _aldis aldis\n')
})

test('options are offered after a dash, and files where no command may follow', async () => {
  expect(await completed('secrets', '')).toEqual(['reseal'])
  expect(await completed('rate', 'import', '')).toEqual([])
  expect(await completed('rate', 'import', '-')).toContain('--json')
})

test('zsh accepts its script, where there is one', async () => {
  const { code, stdout } = await runAldis(['completion', 'zsh'])
  expect(code).toBe(0)
  expect(stdout).toContain('--no-tls-server-name')
  const { error, status, stderr } = spawnSync('zsh', ['-fnc', stdout], { encoding: 'utf8' })
  if (error === undefined) expect([status, stderr]).toEqual([0, ''])
})

test('fish completes commands and options, where there is one', async () => {
  const { code, stdout } = await runAldis(['completion', 'fish'])
  expect(code).toBe(0)
  const lines = ['aldis carrier dr', 'aldis carrier list --li']
  const asked = lines.map((line) => `complete -C '${line}'`).join('\n')
  const fish = spawnSync('fish', ['--no-config', '-c', `${stdout}\n${asked}`], { encoding: 'utf8' })
  if (fish.error === undefined)
    expect([fish.status, fish.stdout, fish.stderr]).toEqual([0, 'drain\n--limit\n', ''])
})

test('another shell is refused', async () => {
  const { code, stderr } = await runAldis(['completion', 'tcsh'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('Allowed choices are bash, zsh, fish.')])
})
