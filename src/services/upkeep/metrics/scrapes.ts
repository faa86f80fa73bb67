/** A scrape waits no longer than this for the database: the other metrics are needed most when it hangs. */
const MAX_WAIT_MS = 2_000

/** Returns what was read, or null when reading fails or takes too long. */
export async function readForScrape<Value>(reading: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), MAX_WAIT_MS)
  })
  try {
    return await Promise.race([reading.catch(() => null), tooLong])
  } finally {
    clearTimeout(timer)
  }
}
