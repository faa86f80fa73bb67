/** The messages the bench sends: one segment each, to numbers of four countries, every text another. */

export interface RequestFields {
  readonly port: number
  readonly token: string
  readonly servicePlanId: string
  readonly sender: string
  readonly callbackUrl: string
}

/** Country code and first digits, and how many digits follow. */
const NUMBERS = [
  ['+4479', 8],
  ['+3367', 7],
  ['+4915', 9],
  ['+1202', 7],
] as const

/**
 * Steps through all numbers of up to 9 digits: coprime with 10, so none repeats early and neighbours lie far apart.
 * The product stays exact for 14 million messages.
 */
const STEP = 618_033_989

/** Gives the n-th request: only digits change, so the length of each form is known. */
export function requestForms(fields: RequestFields): (n: number) => string {
  const { port, token, servicePlanId, sender, callbackUrl } = fields
  const forms = NUMBERS.map(([prefix, digits]) => {
    const before = JSON.stringify({ servicePlanId, channel: 'SMS', from: sender, callbackUrl, to: prefix })
    const start = before.slice(0, -2)
    const middle = '","body":"Your Aldis sign-in code is '
    const end = '. It is good for ten minutes; tell it to nobody."}'
    const length = start.length + digits + middle.length + 6 + end.length
    const head = [
      'POST /v1/sendsms HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ].join('\r\n')
    return { head: `${head}\r\n\r\n${start}`, digits, middle, end }
  })
  return (n) => {
    const { head, digits, middle, end } = forms[n % forms.length]!
    const code = String(n % 1_000_000).padStart(6, '0')
    return `${head}${recipientDigits(n, digits)}${middle}${code}${end}`
  }
}

/** The simulator reads the last four digits: 1001 to 1010 ask for something other than delivery. */
function recipientDigits(n: number, digits: number): string {
  const number = (n * STEP) % 10 ** digits
  const last = number % 10_000
  const plain = last >= 1_001 && last <= 1_010 ? number + 1_000 : number
  return String(plain).padStart(digits, '0')
}
