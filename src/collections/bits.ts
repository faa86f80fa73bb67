/** The lowest `count` bits. */
export function lowBits(count: number): bigint {
  return (1n << BigInt(count)) - 1n
}
