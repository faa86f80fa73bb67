import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Process } from '../children.ts'
import { peakMemoryMib, processCpuMs } from '../cpu-times.ts'
import type { Rig } from '../rig.ts'
import type { Subject } from '../subject.ts'
import { NUMBER, NUMBER_DIGITS, RECIPIENT, RECIPIENTS, TEXT } from '../tools/requests.ts'
import type { Carrier } from '../tools/tools.ts'
import { CALLBACK_MASK, kannelConfiguration, USER } from './configuration.ts'
import type { KannelPrograms } from './install.ts'

/** Kannel's two processes: bearerbox, which speaks SMPP, and smsbox, which speaks HTTP. */

const START_TIMEOUT_MS = 20_000
const POLL_MS = 50

export interface KannelOptions {
  readonly programs: KannelPrograms
  readonly carrier: Carrier
  readonly window: number
  /** Origin of the callback receiver. */
  readonly origin: string
}

/** Resolves when it is bound to the carrier and takes messages. */
export async function startKannel(rig: Rig, options: KannelOptions): Promise<Subject> {
  const { programs, carrier, window, origin } = options
  const [adminPort, smsboxPort, sendsmsPort] = await freePorts()
  const path = join(rig.folder, 'kannel.conf')
  const configuration = { adminPort, smsboxPort, sendsmsPort, carrierPort: carrier.port, window }
  writeFileSync(path, kannelConfiguration(configuration))
  const start = (name: 'bearerbox' | 'smsbox') => {
    const env = programs.libraries.length === 0 ? {} : { LD_LIBRARY_PATH: programs.libraries.join(':') }
    const program = { command: programs[name], args: ['-v', '2', path], env }
    return rig.process(name, program, rig.serviceLog)
  }
  const bearerbox = start('bearerbox')
  await until(rig, 'bearerbox', () => isOpen(smsboxPort))
  const smsbox = start('smsbox')
  await until(rig, 'smsbox', () => isOpen(sendsmsPort))
  await until(rig, 'the bind to the carrier', async () => (await carrier.stats()).binds > 0)
  return new Kannel(bearerbox, smsbox, sendsmsPort, kannelForms(sendsmsPort, origin))
}

class Kannel implements Subject {
  readonly name = 'Kannel'
  readonly ports: readonly number[]
  readonly forms: readonly string[]
  readonly #bearerbox: Process
  readonly #smsbox: Process

  constructor(bearerbox: Process, smsbox: Process, port: number, forms: readonly string[]) {
    this.#bearerbox = bearerbox
    this.#smsbox = smsbox
    this.ports = [port]
    this.forms = forms
  }

  cpuMs() {
    return { bearerbox: processCpuMs(this.#bearerbox.pid), smsbox: processCpuMs(this.#smsbox.pid) }
  }

  peakMemoryMib(): number {
    return peakMemoryMib(this.#bearerbox.pid) + peakMemoryMib(this.#smsbox.pid)
  }

  async walBytes(): Promise<null> {
    return null
  }

  /** It keeps no record of messages. */
  async faults(): Promise<string[]> {
    return []
  }
}

/** GET requests of its sendsms interface, with a callback URL that names the message and the kind of report (%d). */
export function kannelForms(port: number, origin: string): string[] {
  const number = NUMBER.repeat(NUMBER_DIGITS)
  return RECIPIENTS.map((recipient) => {
    const fields = {
      username: USER.name,
      password: USER.password,
      from: 'Aldis',
      to: recipient,
      text: TEXT,
      'dlr-mask': String(CALLBACK_MASK),
      'dlr-url': `${origin}/dlr?n=${number}&s=%d`,
    }
    const query = new URLSearchParams(fields).toString()
    // The places for digits are control characters, which a URL escapes.
    const target = `/cgi-bin/sendsms?${query.replaceAll('%01', RECIPIENT).replaceAll('%02', NUMBER)}`
    return `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  })
}

/** Ports chosen all at once, so that they differ. */
async function freePorts(): Promise<[number, number, number]> {
  const servers = [createServer(), createServer(), createServer()] as const
  const open = async (server: (typeof servers)[number]) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  const ports = await Promise.all(servers.map(open))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports as [number, number, number]
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function until(rig: Rig, what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`${what} did not come up in time`)
    await rig.pause(POLL_MS)
  }
}
