/** One mobile network for each of some calling codes (ITU-T E.164), as mccmnc (ITU-T E.212). No code begins another. */
const NETWORKS: ReadonlyMap<string, string> = new Map([
  ['1', '310260'],
  ['7', '25001'],
  ['33', '20801'],
  ['34', '21401'],
  ['39', '22201'],
  ['44', '23415'],
  ['49', '26201'],
  ['52', '334020'],
  ['55', '72410'],
  ['61', '50501'],
  ['81', '44010'],
  ['91', '40410'],
])

/** E.212's own test network. */
const TEST_NETWORK = '00101'
const MAX_CODE_LENGTH = 2

/** The network of a destination as a PDU carries it: international digits, with or without a `+`. */
export function networkOf(destination: string): string {
  const start = destination.startsWith('+') ? 1 : 0
  for (let length = 1; length <= MAX_CODE_LENGTH; length += 1) {
    const network = NETWORKS.get(destination.slice(start, start + length))
    if (network !== undefined) return network
  }
  return TEST_NETWORK
}
