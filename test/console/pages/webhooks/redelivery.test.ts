import { expect, it } from 'vitest'
import { AldisError } from '../../../../client/src/errors.ts'
import { walkRedelivery } from '../../../../console/src/pages/webhooks/redelivery.ts'

/** A walk over these answers, one a request, and what it asked and told. */
function walk(...answers: (AldisError | { redelivered: number; nextAfter: string | null })[]) {
  const asked: (string | null)[] = []
  const sums: number[] = []
  const waits: number[] = []
  const abort = new AbortController()
  const request = async (after: string | null) => {
    asked.push(after)
    const answer = answers[asked.length - 1]!
    if (answer instanceof AldisError) throw answer
    return answer
  }
  const wait = async (seconds: number) => void waits.push(seconds)
  const onProgress = (events: number) => void sums.push(events)
  return { asked, sums, waits, abort, request, how: { signal: abort.signal, onProgress, wait } }
}

const refusal = (status: number, headers = {}) => new AldisError(status, new Headers(headers), {})

it('goes on where each request ended, and sums', async () => {
  const { request, asked, sums, how } = walk(
    { redelivered: 10_000, nextAfter: 'a-1' },
    { redelivered: 0, nextAfter: 'b-2' },
    { redelivered: 7, nextAfter: null },
  )
  expect(await walkRedelivery(request, how)).toBe(true)
  expect(asked).toEqual([null, 'a-1', 'b-2'])
  expect(sums).toEqual([10_000, 10_000, 10_007])
})

it('waits as long as the service asks, and repeats the same request', async () => {
  const { request, asked, waits, how } = walk(
    { redelivered: 1, nextAfter: 'a-1' },
    refusal(429, { 'retry-after': '3' }),
    { redelivered: 1, nextAfter: null },
  )
  expect(await walkRedelivery(request, how)).toBe(true)
  expect(asked).toEqual([null, 'a-1', 'a-1'])
  expect(waits).toEqual([3])
})

it('ends after the request in flight when it is cancelled', async () => {
  const { request, asked, sums, abort, how } = walk(
    { redelivered: 5, nextAfter: 'a-1' },
    { redelivered: 5, nextAfter: null },
  )
  const onProgress = (events: number) => {
    sums.push(events)
    abort.abort()
  }
  expect(await walkRedelivery(request, { ...how, onProgress })).toBe(false)
  expect([asked, sums]).toEqual([[null], [5]])
})

it('rejects with any other refusal, and when it would wait without end', async () => {
  const refused = walk(refusal(409))
  await expect(walkRedelivery(refused.request, refused.how)).rejects.toMatchObject({ status: 409 })
  const busy = walk(...Array.from({ length: 21 }, () => refusal(429)))
  await expect(walkRedelivery(busy.request, busy.how)).rejects.toMatchObject({ status: 429 })
  expect(busy.waits).toHaveLength(20)
})
