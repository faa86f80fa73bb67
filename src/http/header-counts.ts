/**
 * How often a header was sent. If a header may occur only once (Host, Authorization, Content-Type …), Node keeps the
 * first and drops the rest, while a proxy in front may have used the last. `name` in lower case.
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]!
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count
}
