import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { promisify } from 'node:util'
import { until } from './exchange.ts'

/** tshark, the command line of Wireshark: captures one TCP port of the loopback and decodes what it captured. */

const PROGRAM = 'tshark'

export function hasTshark(): boolean {
  return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0
}

export class Capture {
  readonly #child: ChildProcess
  readonly #port: number
  #printed = ''
  #errors = ''

  private constructor(port: number, file: string) {
    this.#port = port
    // -P prints a line for each packet, which shows when the capture has begun and when it has every packet.
    const args = ['-i', 'lo', '-n', '-l', '-P', '-w', file, '-f', `tcp port ${port}`]
    this.#child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout!.on('data', (chunk) => {
      this.#printed += chunk
    })
    this.#child.stderr!.on('data', (chunk) => {
      this.#errors += chunk
    })
  }

  /** @throws (rejects) Error with tshark's message, when it cannot capture. */
  static async start(port: number, file: string): Promise<Capture> {
    const capture = new Capture(port, file)
    await capture.#seesEverything()
    return capture
  }

  /** Resolves when every packet up to now is in the file. */
  async stop(): Promise<void> {
    await this.#seesEverything()
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    await ended
  }

  /** Connects to the port until a connection of its own is among the packets. */
  async #seesEverything(): Promise<void> {
    const probes = new Set<number>()
    let probing = false
    await until(() => {
      if (this.#child.exitCode !== null) throw new Error(this.#errors.trim())
      if ([...probes].some((port) => this.#printed.includes(` ${port} `))) return true
      if (!probing) {
        probing = true
        const socket = net.connect({ host: '127.0.0.1', port: this.#port }, () => {
          probes.add(socket.localPort!)
          socket.end()
        })
        socket.on('error', () => undefined)
        socket.on('close', () => setTimeout(() => (probing = false), 200))
      }
      return false
    }, `the capture. ${this.#errors.trim()}`)
  }
}

/** The layers of every packet as in tshark's JSON, without the hexadecimal octets. */
export async function decodedPackets(file: string, port: number): Promise<unknown[]> {
  const args = ['-r', file, '-n', '-d', `tcp.port==${port},smpp`, '-T', 'json', '--no-duplicate-keys']
  const { stdout } = await promisify(execFile)(PROGRAM, args, { maxBuffer: 256 * 1024 * 1024 })
  return (JSON.parse(stdout) as { _source: { layers: unknown } }[]).map((packet) => packet._source.layers)
}
