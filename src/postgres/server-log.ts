/**
 * What the server writes to its standard error: into a file of bounded size, and its last lines in memory to explain a
 * failed start.
 */
import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Readable } from 'node:stream'

/** The log and one predecessor are kept: at most twice this on disk. */
const MAX_LOG_BYTES = 1024 * 1024
const MAX_TAIL_LINES = 20
const MAX_LINE_CHARACTERS = 1_000

export class ServerLog {
  readonly #path: string
  #sizeBytes: number
  #tail: string[] = []

  constructor(path: string) {
    this.#path = path
    this.#sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Follows one run of the server. The tail starts empty. */
  follow(output: Readable): void {
    this.#tail = []
    output.setEncoding('utf8')
    output.on('data', (chunk: string) => this.#write(chunk))
  }

  /** The last lines of the current run. */
  get tail(): readonly string[] {
    return this.#tail
  }

  /** Synchronous: the server writes warnings only, a few lines a day, and a crash must not lose the last of them. */
  #write(chunk: string): void {
    for (const line of chunk.split('\n')) {
      if (line.trim() !== '') this.#tail.push(line.trim().slice(0, MAX_LINE_CHARACTERS))
    }
    this.#tail.splice(0, this.#tail.length - MAX_TAIL_LINES)
    try {
      if (this.#sizeBytes > MAX_LOG_BYTES) {
        rmSync(`${this.#path}.1`, { force: true })
        renameSync(this.#path, `${this.#path}.1`)
        this.#sizeBytes = 0
      }
      appendFileSync(this.#path, chunk, { mode: 0o600 })
      this.#sizeBytes += Buffer.byteLength(chunk)
    } catch {
      // A full disk must not stop the server's output. Only its log is lost.
    }
  }
}
