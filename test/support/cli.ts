/**
 * The `aldis` command as a child process.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** A command that hangs is a fault of its own: it is killed, and its exit code is null. */
const TIMEOUT_MS = 20_000

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `aldis …args` to its end. The environment is what is given and PATH, nothing of the test run's own. */
export async function runAldis(
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; stdin?: string } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, ...options.env },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  child.stdin.end(options.stdin ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}
