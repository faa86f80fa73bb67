/** A scrape does not wait for the database longer than this: the other metrics are needed most when it hangs. */
const MAX_WAIT_MS = 2_000

/** What was read, or null when it fails or takes too long. */
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
