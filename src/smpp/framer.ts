import { HEADER_LENGTH } from './pdu.ts'

/** A 64 KiB payload and one header: the longest command_length accepted unless told otherwise, in octets. */
export const DEFAULT_FRAME_LIMIT = 65_536 + HEADER_LENGTH

export interface FrameFault {
  /** sequence_number of the offending header; 0 when it had not arrived with the length. */
  readonly sequence: number
}

/**
 * Cuts a stream into PDUs by command_length (§3.2). No copy for frames that lie within one chunk: `push` a chunk,
 * then call `next` until it is false; after each true, the frame is `buffer[start, end)`, valid for ever.
 *
 * Holds one incomplete frame at most, copied into a buffer of its exact length, so a frame that comes octet by
 * octet costs O(n) and never more memory than `frameLimit`. A command_length below 16 or above the limit is a
 * `fault`: nothing after it can be framed, `next` stays false.
 */
export class Framer {
  buffer: Buffer = EMPTY
  start = 0
  end = 0
  fault: FrameFault | null = null
  readonly #frameLimit: number
  #chunk: Buffer = EMPTY
  #position = 0
  /** First octets of a frame whose length is not known yet. */
  readonly #length = Buffer.alloc(LENGTH_OCTETS)
  #partial: Buffer | null = null
  #held = 0

  constructor(frameLimit: number = DEFAULT_FRAME_LIMIT) {
    this.#frameLimit = frameLimit
  }

  /** Octets of an incomplete frame waiting for the rest. */
  get held(): number {
    return this.#held
  }

  /** Every frame of the previous chunk must have been taken. */
  push(chunk: Buffer): void {
    this.#chunk = chunk
    this.#position = 0
  }

  /** Moves to the next complete frame; false when the chunk is used up or the stream is faulty. */
  next(): boolean {
    if (this.fault !== null) return this.#release()
    if (this.#held > 0) return this.#completePartial()
    const available = this.#chunk.length - this.#position
    if (available < LENGTH_OCTETS) return this.#keepLength(available)
    const commandLength = this.#chunk.readUInt32BE(this.#position)
    if (!this.#valid(commandLength, this.#chunk, this.#position)) return this.#release()
    if (available < commandLength) return this.#keep(commandLength, available)
    this.buffer = this.#chunk
    this.start = this.#position
    this.#position += commandLength
    this.end = this.#position
    return true
  }

  #keepLength(available: number): false {
    this.#chunk.copy(this.#length, 0, this.#position, this.#position + available)
    this.#held = available
    return this.#release()
  }

  #keep(commandLength: number, available: number): false {
    this.#partial = Buffer.allocUnsafe(commandLength)
    this.#chunk.copy(this.#partial, 0, this.#position)
    this.#held = available
    return this.#release()
  }

  #completePartial(): boolean {
    if (this.#partial === null) {
      this.#position += this.#fill(this.#length, LENGTH_OCTETS)
      if (this.#held < LENGTH_OCTETS) return this.#release()
      const commandLength = this.#length.readUInt32BE(0)
      // If the header's other octets are here already, they follow in the chunk: the length field counts as lying before
      // it.
      if (!this.#valid(commandLength, this.#chunk, this.#position - LENGTH_OCTETS)) return this.#release()
      this.#partial = Buffer.allocUnsafe(commandLength)
      this.#length.copy(this.#partial)
    }
    const frame = this.#partial
    this.#position += this.#fill(frame, frame.length)
    if (this.#held < frame.length) return this.#release()
    this.buffer = frame
    this.start = 0
    this.end = frame.length
    this.#partial = null
    this.#held = 0
    return true
  }

  /** Copies octets of the chunk into `target` up to `length`; returns how many. */
  #fill(target: Buffer, length: number): number {
    const copied = this.#chunk.copy(target, this.#held, this.#position, this.#position + length - this.#held)
    this.#held += copied
    return copied
  }

  #valid(commandLength: number, source: Buffer, offset: number): boolean {
    if (commandLength >= HEADER_LENGTH && commandLength <= this.#frameLimit) return true
    const readable = source.length - offset >= HEADER_LENGTH
    this.fault = { sequence: readable ? source.readUInt32BE(offset + 12) : 0 }
    return false
  }

  /** Drops references to the chunk and the last frame: between chunks, only the incomplete frame is held. */
  #release(): false {
    this.#chunk = EMPTY
    this.#position = 0
    this.buffer = EMPTY
    this.start = 0
    this.end = 0
    if (this.fault !== null) {
      this.#partial = null
      this.#held = 0
    }
    return false
  }
}

const LENGTH_OCTETS = 4
const EMPTY = Buffer.alloc(0)
