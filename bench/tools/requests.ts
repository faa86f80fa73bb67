/**
 * The requests of a load: forms whose digits change from message to message. A run of RECIPIENT is where the recipient's
 * digits go, a run of NUMBER where those of the message's number go. load.c and load.ts read them alike.
 */

export const RECIPIENT = '\x01'
export const NUMBER = '\x02'
/** Ends each form in a file of them. */
const END = '\0'
/** Digits of a message's number, which is in the text that the carrier gets and in the webhooks. */
export const NUMBER_DIGITS = 8
/** Messages of a run, at most; also in messages.h. */
export const MESSAGE_LIMIT = 10_000_000
/** The mark before the number in a text; also in carrier.c and receiver.c. */
const NUMBER_MARK = 'code is '

/** Every message is one segment of GSM 7-bit with a text of its own. */
export const TEXT = `Your Aldis sign-in ${NUMBER_MARK}${NUMBER.repeat(NUMBER_DIGITS)}. It is good for ten minutes; tell it to nobody.`

/** Recipients in four countries: code and first digits, then the remaining digits of a number there. */
export const RECIPIENTS: readonly string[] = [
  `+4479${RECIPIENT.repeat(8)}`,
  `+3367${RECIPIENT.repeat(7)}`,
  `+4915${RECIPIENT.repeat(9)}`,
  `+1202${RECIPIENT.repeat(7)}`,
]

/**
 * Steps through all numbers of up to 9 digits: coprime with 10, so none repeats early and neighbours lie far apart. The
 * product stays exact for 14 million messages.
 */
const STEP = 618_033_989

export function formsFile(forms: readonly string[]): string {
  return forms.map((form) => form + END).join('')
}

/** Returns a function that makes the request for message `n`. */
export function requestsOf(file: string): (n: number) => string {
  const forms = file.split(END).slice(0, -1)
  const runs = new RegExp(`${RECIPIENT}+|${NUMBER}+`, 'g')
  return (n) =>
    forms[n % forms.length]!.replace(runs, (run) =>
      String(run[0] === NUMBER ? n : recipientOf(n, run.length)).padStart(run.length, '0'),
    )
}

/** The simulator reads the last four digits: 1001 to 1010 ask for something other than delivery. */
function recipientOf(n: number, digits: number): number {
  const number = (n * STEP) % 10 ** digits
  const last = number % 10_000
  return last >= 1_001 && last <= 1_010 ? number + 1_000 : number
}

/** The number in the text of a message, or in a copy of that text; null when there is none. */
export function numberIn(text: string): number | null {
  const at = text.indexOf(NUMBER_MARK)
  if (at < 0) return null
  const start = at + NUMBER_MARK.length
  const digits = text.slice(start, start + NUMBER_DIGITS)
  return /^\d{8}$/.test(digits) && Number(digits) < MESSAGE_LIMIT ? Number(digits) : null
}
