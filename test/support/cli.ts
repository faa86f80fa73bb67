/**
 * The `aldis` command inside the test's own process: as main.ts runs it, with arguments, environment and output of its
 * own, and without the half second that a process needs to start. process.ts starts real ones.
 */
import { runProgram } from '../../src/commands/program.ts'
import { runAldis as runProcess } from './process.ts'

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `aldis …args` to its end, one at a time. The environment is `env` and nothing else. Standard input is read by its
 * descriptor, so with `stdin` the command is a real process.
 */
export async function runAldis(
  args: readonly string[],
  { env = {}, stdin }: { env?: Readonly<NodeJS.ProcessEnv>; stdin?: string } = {},
): Promise<CommandResult> {
  if (stdin !== undefined) {
    const { code, stdout, stderr } = await runProcess(args, { env, stdin })
    return { code, stdout, stderr }
  }
  const { env: ownEnv, exitCode } = process
  const listeners = signalListeners()
  const stdout = captured(process.stdout)
  const stderr = captured(process.stderr)
  process.env = { ...env }
  process.exitCode = undefined
  try {
    await runProgram(args)
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    process.env = ownEnv
    process.exitCode = exitCode
    listeners.restore()
    stdout.release()
    stderr.release()
  }
}

const STOPPING = ['SIGTERM', 'SIGINT'] as const

/** What listens to signals, so that a command's own listeners can be taken away: they would keep signals from the tests. */
function signalListeners(): { restore(): void } {
  const before = STOPPING.map((signal) => new Set(process.listeners(signal)))
  return {
    restore: () => {
      for (const [index, signal] of STOPPING.entries()) {
        const added = process.listeners(signal).filter((listener) => !before[index]!.has(listener))
        for (const listener of added) process.removeListener(signal, listener)
      }
    },
  }
}

/** Keeps what is written to a stream, until it is released. */
function captured(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const { write } = stream
  let text = ''
  stream.write = (chunk: string | Uint8Array) => {
    text += chunk
    return true
  }
  return {
    text: () => text,
    release: () => {
      stream.write = write
    },
  }
}
