import { expect, test } from 'vitest'
import { runAldis } from './support/cli.ts'
import { runAldis as runProcess } from './support/process.ts'

test('the help lists every command', async () => {
  const { code, stdout } = await runAldis(['--help'])
  expect(code).toBe(0)
  const commands = [
    'dev',
    'serve',
    'migrate',
    'simulate-carrier',
    'account',
    'plan',
    'token',
    'sender',
    'number',
  ]
  for (const command of [...commands, 'carrier', 'route'])
    expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'))
})

test('the version is that of the package', async () => {
  const { code, stdout } = await runProcess(['--version'])
  expect(`${code} ${stdout}`).toMatch(/^0 \d+\.\d+\.\d+\n$/)
})

test('a failure is the exit code of the process', async () => {
  const failed = { code: 1, stdout: '', stderr: "error: unknown command 'acount' (Did you mean account?)\n" }
  expect(await runProcess(['acount', 'list'])).toMatchObject(failed)
  expect(await runAldis(['acount', 'list'])).toEqual(failed)
})

test.each([
  [['account', 'lst'], "error: unknown command 'lst' (Did you mean list?)\n"],
  [['help', 'acount'], "error: unknown command 'acount' (Did you mean account?)\n"],
  [['acount', '--help'], "error: unknown command 'acount' (Did you mean account?)\n"],
  [['account', 'list', '--jsn'], "error: unknown option '--jsn' (Did you mean --json?)\n"],
  [['account', 'show'], "error: missing required argument 'accountId'\n"],
  [['account', 'create'], "error: required option '--name <name>' not specified\n"],
])('%j is one clear line and exit code 1', async (args, line) => {
  expect(await runAldis(args)).toEqual({ code: 1, stdout: '', stderr: line })
})
