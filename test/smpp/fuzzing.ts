import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { cuts, hostileFrames, pieces } from './frame-arbitrary.ts'
import { checkFramer, checkParsers, completed } from './fuzz-oracles.ts'
import { esmeTarget, smscTarget, type Target } from './fuzzed-session.ts'

const TARGETS = { ESME: esmeTarget, SMSC: smscTarget } as const
type Side = keyof typeof TARGETS
export const SIDES = Object.keys(TARGETS) as Side[]

/** Of a run to repeat, or a new one. */
export const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))

export interface FuzzOptions {
  /** Each with about 100 mutated PDUs, all of which go over TCP and through the parsers. */
  readonly sessions: number
  /** After each session. */
  readonly onSession?: () => void
}

/**
 * Writes mutated PDUs to one side, in session after session. What fails first is made smaller; the error has the PDUs. Returns the number of PDUs.
 */
export async function fuzz(side: Side, { sessions, onSession }: FuzzOptions): Promise<number> {
  const target = await TARGETS[side]()
  let pdus = 0
  const session = fc.record({
    frames: hostileFrames,
    lengths: cuts,
    isBound: fc.nat(7).map((one) => one > 0),
    vanishes: fc.nat(49).map((one) => one === 0),
    // Half of the responses get the number of a pending request.
    aims: fc.array(fc.option(fc.nat(7), { freq: 1 }), { minLength: 16, maxLength: 16 }),
  })
  const property = fc.asyncProperty(session, async (one) => {
    pdus += one.frames.length
    await survives(target, one)
    onSession?.()
  })
  try {
    await fc.assert(property, { seed: SEED, numRuns: sessions })
  } finally {
    await target.close()
  }
  return pdus
}

interface HostileSession {
  readonly frames: readonly Buffer[]
  readonly lengths: readonly number[]
  readonly isBound: boolean
  readonly vanishes: boolean
  readonly aims: readonly (number | null)[]
}

async function survives(target: Target, { frames, lengths, isBound, vanishes, aims }: HostileSession) {
  const session = await target.open(isBound)
  try {
    const sequences = session.sendRequests()
    const aimed = frames.map((frame, index) => {
      const sequence = sequences[aims[index % aims.length] ?? -1]
      if (frame[4]! < 0x80 || sequence === undefined) return frame
      const copy = Buffer.from(frame)
      copy.writeUInt32BE(sequence, 12)
      return copy
    })
    for (const frame of aimed) checkParsers(frame)
    const stream = completed(Buffer.concat(aimed))
    const chunks = pieces(stream, lengths)
    checkFramer(stream, chunks)
    await session.survive(stream, chunks, sequences)
    if (session.isOpen && vanishes) await session.vanish()
  } finally {
    await session.drop()
  }
}
