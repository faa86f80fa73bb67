import { encodedLengthBound, writePdu } from './encoding.ts'
import type { PduInput } from './pdu.ts'

/** About a hundred submits; a PDU that needs more gets a block of its own size. */
const BLOCK_OCTETS = 16_384

/**
 * Encoded PDUs waiting for the next socket write. They are written side by side into one block, so that the output of a
 * tick leaves in one piece. A block is used until it is full, also over several ticks: octets once taken are never
 * overwritten.
 */
export class Outbox {
  #block: Buffer = Buffer.alloc(0)
  #start = 0
  #end = 0
  #full: Buffer[] = []

  get isEmpty(): boolean {
    return this.#end === this.#start && this.#full.length === 0
  }

  /** @throws RangeError like `encodePdu`; the outbox is then unchanged. */
  add(pdu: PduInput, sequence: number, status: number): void {
    const bound = encodedLengthBound(pdu)
    if (this.#block.length - this.#end < bound) {
      if (this.#end > this.#start) this.#full.push(this.#block.subarray(this.#start, this.#end))
      this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK_OCTETS, bound))
      this.#start = 0
      this.#end = 0
    }
    this.#end = writePdu(this.#block, this.#end, pdu, sequence, status)
  }

  /** Everything added since the last call, in order; usually one piece. */
  take(): Buffer[] {
    const pieces = this.#full
    if (this.#end > this.#start) pieces.push(this.#block.subarray(this.#start, this.#end))
    this.#start = this.#end
    this.#full = []
    return pieces
  }
}
