import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { connect } from '../../src/smpp/connection.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { runAldis } from '../support/cli.ts'
import { MAIN, NODE_COMPILE_CACHE, YOUNG_ROOM } from '../support/process.ts'

interface Program {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  /** Everything written so far. */
  output(): string
  errors(): string
  /** The first line of standard output that matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>
}

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function run(...flags: string[]): Program {
  const child = spawn(process.execPath, [YOUNG_ROOM, MAIN, 'simulate-carrier', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE },
  })
  children.push(child)
  const written = { stdout: '', stderr: '' }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  }
  const line = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(written.stdout)
      if (match !== null) return match
      await once(child.stdout!, 'data')
    }
  }
  return { child, ended, line, output: () => written.stdout, errors: () => written.stderr }
}

async function listening(...flags: string[]): Promise<Program & { readonly port: number }> {
  const program = run('--port', '0', ...flags)
  const [, port] = await program.line(/^Simulated carrier listening on 127\.0\.0\.1:(\d+)\n/)
  return { ...program, port: Number(port) }
}

const bind = (port: number, password = 'pw') =>
  connect({ host: '127.0.0.1', port, bind: { command: 'bind_transceiver', system_id: 'esme', password } })

test.each(['SIGTERM', 'SIGINT'] as const)(
  'prints binds, serves, and ends with code 0 on %s',
  async (signal) => {
    const program = await listening('--receipt-delay-ms', '0')
    const link = bind(program.port)
    await link.whenBound()
    await program.line(/^bind_transceiver "esme" from 127\.0\.0\.1$/m)
    const submit = { command: 'submit_sm', destination_addr: '15551230001' } as const
    expect((await link.request(submit)).status).toBe(STATUSES.ESME_ROK)
    program.child.kill(signal)
    await link.whenClosed()
    expect(await program.ended).toBe(0)
    expect(program.output()).toMatch(/^unbound "esme": unbound$/m)
    expect(program.errors()).toBe('')
  },
)

test('--quiet prints nothing', async () => {
  // The port of a program that has just ended.
  const earlier = await listening()
  earlier.child.kill('SIGTERM')
  await earlier.ended
  const program = run('--quiet', '--port', `${earlier.port}`)
  await expect.poll(() => bind(earlier.port).whenBound()).toMatchObject({ status: STATUSES.ESME_ROK })
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
  expect(program.output() + program.errors()).toBe('')
})

test('a port in use is one line and code 1', async () => {
  const { port } = await listening()
  const second = run('--port', `${port}`)
  expect(await second.ended).toBe(1)
  expect(second.errors()).toBe(`error: port ${port} on 127.0.0.1 is already in use\n`)
  expect(second.output()).toBe('')
})

test('credentials and throughput are observed', async () => {
  const program = await listening('--system-id', 'esme', '--password', 'secret', '--throughput', '1')
  await expect(bind(program.port, 'wrong').whenBound()).rejects.toMatchObject({
    reason: { code: 'bind_rejected', status: STATUSES.ESME_RINVPASWD },
  })
  const link = bind(program.port, 'secret')
  await link.whenBound()
  const submit = { command: 'submit_sm', destination_addr: '15551230001' } as const
  const answers = await Promise.all([link.request(submit), link.request(submit)])
  expect(answers.map(({ status }) => status)).toEqual([STATUSES.ESME_ROK, STATUSES.ESME_RTHROTTLED])
  await link.unbind()
})

test('an address that is not of this machine is one line and code 1', async () => {
  const program = run('--host', '192.0.2.1', '--port', '0')
  expect(await program.ended).toBe(1)
  expect(program.errors()).toBe('error: cannot listen on 192.0.2.1:0: EADDRNOTAVAIL\n')
  expect(program.output()).toBe('')
})

test.each([
  [['--port', 'x'], /^error: .*--port.* Not an integer from 0 to 65535\.\n$/],
  [['--port', '65536'], /^error: .*--port.* Not an integer from 0 to 65535\.\n$/],
  [['--receipt-delay-ms', '9-3'], /^error: .*--receipt-delay-ms.* Not N or MIN-MAX.*\n$/],
  [['--throughput', '0'], /^error: .*--throughput.* Not an integer from 1 to \d+\.\n$/],
  [['--password', 'x'], /^error: --password needs --system-id\n$/],
])('%j is one line and code 1', async (flags, message) => {
  expect(await runAldis(['simulate-carrier', ...flags])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(message),
  })
})
