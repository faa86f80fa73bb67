import { SeededRandom } from '../seeded-random.ts'
import { fuzzCorpus } from './corpus.ts'
import { type Batch, completed, fuzzBatch, pieces } from './mutations.ts'
import { checkFramer, checkParsers } from './parsers.ts'
import { esmeTarget, type FuzzedSession, smscTarget, type Target } from './sessions.ts'

export interface FuzzOptions {
  /** PDUs, all of which go over TCP and through the parsers. */
  readonly count: number
  readonly seed: number
  readonly onProgress?: (figures: FuzzFigures) => void
  /** Octets in use now; without it memory is not watched. */
  readonly memory?: () => number
}

export interface FuzzFigures {
  readonly pdus: number
  readonly sessions: number
  /** The most octets above those in use after the first twentieth. */
  readonly growth: number
}

/** An invariant that did not hold. `hex`: the PDUs of the case, one per line. */
export class FuzzFailure extends Error {
  readonly hex: string

  constructor(where: string, frames: readonly Buffer[], cause: unknown) {
    super(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.hex = frames.map((frame) => frame.toString('hex')).join('\n')
  }
}

const MEMORY_LIMIT = 50 * 1024 * 1024
const BATCH = 200
/** Batches, of both targets, between two looks at the memory. */
const LOOK_EVERY = 100

/**
 * Sends mutated PDUs to our ESME and to our SMSC over TCP, and the same to the parsers alone.
 * @throws (rejects) FuzzFailure at the first invariant that does not hold.
 */
export async function runFuzz(options: FuzzOptions): Promise<FuzzFigures> {
  const { count, seed, onProgress, memory } = options
  const corpus = fuzzCorpus(new SeededRandom(seed))
  const feeders = [
    new Feeder(await esmeTarget(), corpus, seed),
    new Feeder(await smscTarget(), corpus, seed + 1),
  ] as const
  const figures = { pdus: 0, sessions: 0, growth: 0 }
  let baseline: number | null = null
  try {
    for (let round = 1; figures.pdus < count; round++) {
      const each = Math.min(BATCH, Math.ceil((count - figures.pdus) / feeders.length))
      await Promise.all(feeders.map((feeder) => feeder.feed(each)))
      figures.pdus = feeders[0].pdus + feeders[1].pdus
      figures.sessions = feeders[0].sessions + feeders[1].sessions
      if (memory !== undefined && round % LOOK_EVERY === 0 && figures.pdus >= count / 20) {
        const used = memory()
        baseline ??= used
        figures.growth = Math.max(figures.growth, used - baseline)
        if (figures.growth > MEMORY_LIMIT)
          throw new FuzzFailure('memory', [], `${figures.growth} octets more`)
      }
      onProgress?.(figures)
    }
  } finally {
    await Promise.all(feeders.map((feeder) => feeder.close()))
  }
  return figures
}

/** Feeds one target, from one session to the next. */
class Feeder {
  pdus = 0
  sessions = 0
  readonly #target: Target
  readonly #corpus: readonly Buffer[]
  readonly #random: SeededRandom
  #session: FuzzedSession | null = null

  constructor(target: Target, corpus: readonly Buffer[], seed: number) {
    this.#target = target
    this.#corpus = corpus
    this.#random = new SeededRandom(Math.imul(seed, 0x9e3779b1))
  }

  async feed(count: number): Promise<void> {
    const batch = fuzzBatch(this.#random, this.#corpus, count)
    try {
      const session = this.#session ?? (await this.#open())
      const sequences = session.sendRequests()
      this.#aim(batch, sequences)
      this.#checkAlone(batch)
      const stream = completed(Buffer.concat(batch.frames))
      const chunks = pieces(stream, this.#random)
      checkFramer(stream, chunks)
      await session.survive(stream, chunks, sequences)
      this.pdus += batch.frames.length
      if (session.isOpen && this.#random.once(50)) await session.vanish()
      if (!session.isOpen) await this.#drop()
    } catch (error) {
      if (error instanceof FuzzFailure) throw error
      throw new FuzzFailure(this.#target.name, batch.frames, error)
    }
  }

  async close(): Promise<void> {
    await this.#drop()
    await this.#target.close()
  }

  async #open(): Promise<FuzzedSession> {
    this.#session = await this.#target.open(!this.#random.once(8))
    this.sessions += 1
    return this.#session
  }

  async #drop(): Promise<void> {
    await this.#session?.drop()
    this.#session = null
  }

  /** Half of the responses among the frames get sequence numbers of pending requests. */
  #aim({ frames }: Batch, sequences: readonly number[]): void {
    if (sequences.length === 0) return
    for (const frame of frames) {
      if (frame[4]! >= 0x80 && this.#random.once(2)) frame.writeUInt32BE(this.#random.pick(sequences), 12)
    }
  }

  #checkAlone({ frames }: Batch): void {
    for (const frame of frames) {
      try {
        checkParsers(frame)
      } catch (error) {
        throw new FuzzFailure('parsers', [frame], error)
      }
    }
  }
}
