import { Distinct } from '../../collections/distinct.ts'
import { RecipientTable } from './recipient-table.ts'

/** All number ranges: the network (mccmnc) of a number by the longest prefix that is known. */
export class NetworkTable {
  readonly #prefixes: RecipientTable
  /** By prefix: its network among the distinct ones. */
  readonly #networks: Uint32Array
  readonly #distinct = new Distinct<string>()

  /** `room`: the most prefixes that it will have. */
  constructor(room: number) {
    this.#prefixes = new RecipientTable(room)
    this.#networks = new Uint32Array(room)
  }

  add(prefix: string, mccmnc: string): void {
    const entry = this.#prefixes.add(0, { prefix, country: null, mccmnc: null })
    this.#networks[entry] = this.#distinct.numberOf(mccmnc, () => mccmnc)
  }

  networkOf(recipient: string): string | null {
    const entry = this.#prefixes.mostSpecific(0, { recipient, country: null, mccmnc: null })
    return entry === null ? null : this.#distinct.at(this.#networks[entry]!)
  }
}
