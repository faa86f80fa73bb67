/**
 * How message ids are written. The three number forms are one number: with one of them in the response and another in
 * the receipt, an ESME has to know its carrier's habit (SMPP 3.4 §5.2.23 leaves the form open).
 */
export type IdForm = 'decimal' | 'decimal-padded' | 'hex' | 'hex-upper' | 'uuid'

export interface MessageId {
  /** In submit_sm_resp. */
  readonly submitted: string
  /** In the receipt. */
  readonly receipted: string
}

/** SMPP 3.3 had ids of up to 8 hexadecimal or 10 decimal digits; ours need more, whatever the start. */
const PADDED_LENGTH = 20

/** Message ids in sequence, from `firstNumber` on (an integer below 2^53). */
export class MessageIds {
  readonly #submitForm: IdForm
  readonly #receiptForm: IdForm
  readonly #random: () => number
  #number: number

  /** @throws RangeError one form is uuid and the other is not: no receipt could be told from them. */
  constructor(submitForm: IdForm, receiptForm: IdForm, firstNumber: number, random: () => number) {
    if ((submitForm === 'uuid') !== (receiptForm === 'uuid')) {
      throw new RangeError(`message ids: ${submitForm} and ${receiptForm} cannot be told to be one id`)
    }
    this.#submitForm = submitForm
    this.#receiptForm = receiptForm
    this.#random = random
    this.#number = firstNumber - 1
  }

  next(): MessageId {
    this.#number += 1
    const submitted = this.#written(this.#submitForm)
    const receipted = this.#receiptForm === this.#submitForm ? submitted : this.#written(this.#receiptForm)
    return { submitted, receipted }
  }

  #written(form: IdForm): string {
    switch (form) {
      case 'decimal':
        return String(this.#number)
      case 'decimal-padded':
        return String(this.#number).padStart(PADDED_LENGTH, '0')
      case 'hex':
        return this.#number.toString(16)
      case 'hex-upper':
        return this.#number.toString(16).toUpperCase()
      case 'uuid':
        return this.#uuid()
    }
  }

  /** Version 8, our own making (RFC 9562 §5.8): the number, then random digits. */
  #uuid(): string {
    const digits = this.#number.toString(16).padStart(14, '0')
    const tail = Math.floor(this.#random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0')
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-80${digits.slice(12)}-8000-${tail}`
  }
}

/**
 * Where the sequence of a simulator started at `nowMs` begins. A later start begins above an earlier one as long as that
 * took under a million messages a second: ids must not come again for an ESME that keeps its records.
 */
export function firstMessageNumber(nowMs: number): number {
  return nowMs * 1_000
}
