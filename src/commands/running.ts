import { once } from 'node:events'
import { createServer } from 'node:net'
import { InvalidArgumentError } from 'commander'
import type { Logger } from 'pino'
import { ListenError } from '../app/options.ts'

/** Where `aldis listen` waits, and where `aldis dev` pushes inbound messages to. */
export const LISTEN_PORT = 9000

/** Why a node stops that another process has replaced. */
export const SAME_NAME = 'another node has the same NODE_ID'

/** npm passes on a Ctrl-C that the terminal has sent to the program too, so one Ctrl-C may arrive twice. */
const SAME_SIGNAL_MS = 1_000

/**
 * Calls `stop` at the first SIGTERM or SIGINT. Those within the next second are ignored; a later one calls `beforeEnd` and
 * ends the process at once. Signals are listened to until disposal.
 */
export function onStopSignal(stop: () => void, beforeEnd = () => {}): Disposable {
  let stoppedAtMs: number | null = null
  const signals = ['SIGTERM', 'SIGINT'] as const
  const dispose = () => {
    for (const signal of signals) process.removeListener(signal, take)
  }
  const take = (signal: NodeJS.Signals) => {
    if (stoppedAtMs === null) {
      stoppedAtMs = performance.now()
      stop()
    } else if (performance.now() - stoppedAtMs >= SAME_SIGNAL_MS) {
      beforeEnd()
      dispose()
      process.kill(process.pid, signal)
    }
  }
  for (const signal of signals) process.on(signal, take)
  return { [Symbol.dispose]: dispose }
}

export interface Stopped {
  /** Resolves at SIGTERM, SIGINT, `stop` or `fail`. */
  wait(): Promise<void>
  stop(): void
  /** Something the process cannot go on without is gone: it stops with exit code 1. */
  fail(reason: string, details?: object): void
  /** What to do when a second signal ends the process at once. */
  beforeEnd(act: () => void): void
}

/** Waits for the signal to stop. */
export function untilStopped(log: Logger): Stopped {
  const { promise, resolve } = Promise.withResolvers<void>()
  let actBeforeEnd = () => {}
  onStopSignal(resolve, () => actBeforeEnd())
  return {
    wait: () => promise,
    stop: resolve,
    fail(reason, details) {
      log.fatal(details ?? {}, reason)
      process.exitCode = 1
      resolve()
    },
    beforeEnd(act) {
      actBeforeEnd = act
    },
  }
}

/**
 * Ends the process after `ms` if it is still alive, because a connection to a peer that does not respond can keep it so.
 * Uses a signal, because `process.exit` has been seen to hang after much socket traffic.
 */
export function endWithin(ms: number): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms).unref()
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
])

/** Where a listener was to listen, and what chooses that. */
export interface Listening {
  readonly host: string
  readonly port: number
  readonly portSetting: string
  /** Absent: the address is not to be chosen. */
  readonly hostSetting?: string
}

/** A listener that does not listen, in one line a person can act on. */
export function explainListen(error: unknown, listening: Listening): Error {
  const { host, port, portSetting, hostSetting } = listening
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use; choose another with ${portSetting}`)
  if (code === 'EACCES')
    return new Error(`port ${port} needs privileges that this user lacks; choose another with ${portSetting}`)
  if (code === 'ENOTSUP')
    return new Error('this system cannot share a port among processes: --workers must be 1')
  const choice = hostSetting === undefined ? '' : `; choose another address with ${hostSetting}`
  return new Error(`nothing can listen at ${host}: ${message}${choice}`)
}

/**
 * Checks that these could all listen at once. For a start that makes something before it listens.
 * @throws what `explainListen` returns
 */
export async function checkPorts(listenings: readonly Listening[]): Promise<void> {
  await using servers = new AsyncDisposableStack()
  for (const listening of listenings) {
    // A client that comes meanwhile is turned away: nobody else would end its connection.
    const server = createServer((socket) => socket.destroy()).listen(listening.port, listening.host)
    await once(server, 'listening').catch((error) => {
      throw explainListen(error, listening)
    })
    servers.use(server)
  }
}

/** A start of the service that failed, likewise. */
export function explainStart(
  error: unknown,
  listeningOf: (listener: ListenError['listener']) => Listening,
): Error {
  if (error instanceof ListenError) return explainListen(error, listeningOf(error.listener))
  const { code, syscall } = Object(error) as NodeJS.ErrnoException
  if (syscall === 'connect' || (code !== undefined && UNREACHABLE.has(code)))
    return new Error(`the database cannot be reached: ${(error as Error).message || code}`)
  return error instanceof Error ? error : new Error(String(error))
}

/** Option parser: a TCP port, or 0 for any free one. */
export function port(text: string): number {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

/** Option parser: the port of a receiver, which has to be known. */
export function receiverPort(text: string): number {
  const value = port(text)
  if (value === 0) throw new InvalidArgumentError('expected the port of a receiver, from 1 to 65535')
  return value
}
