import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { Token } from '../../src/domain/configuration/configuration.ts'
import type { ListName } from '../../src/domain/lists.ts'
import { AppError } from '../../src/errors.ts'
import { CursorPages } from '../../src/http/cursor-pages.ts'
import { aDirectory, anAccount, aPlan } from '../support/directory.ts'

const account = anAccount({ id: 1 })
const plans = [1, 2].map((id) => aPlan({ id, servicePlanId: String(id).repeat(24), account }))
const directory = aDirectory({ accounts: [account], plans })
const token: Token = { id: 1, account, name: 'backend', planIds: null, scopes: null, expiresAtMs: null }
const YEAR_MS = 365 * 24 * 3_600_000

interface Filters {
  readonly colour: string | null
}
interface Position {
  readonly at: number
  readonly part: number
}

const keys = { cursor: randomBytes(32) }
let nowMs = 0

const BOUNDS = { defaultLimit: 20, maxLimit: 100 }
const RULES = { colour: { parse: (text: string) => text, meaning: '' } }

function pagesOf(list: ListName, lifetimeMs: number | null = 24 * 3_600_000) {
  const deps = {
    directory: () => directory,
    db: { query: notUsed },
    keys,
    clock: () => nowMs,
    random: randomBytes,
  }
  return new CursorPages<Filters, Position>(deps as never, list, RULES, { ...BOUNDS, lifetimeMs })
}

function notUsed(): never {
  throw new Error('pages read nothing themselves')
}

async function read(
  pages: CursorPages<Filters, Position>,
  cursor: string | null,
  query: { colour?: string; limit?: string } = {},
) {
  const { servicePlanId } = plans[0]!
  const given = { servicePlanId, ...query, ...(cursor !== null && { cursor }) }
  return (await pages.read({ token, query: given as unknown } as FastifyRequest)).page
}

const first = { planId: 1, filters: { colour: 'red' }, limit: 20, after: null }

describe('a page', () => {
  it('has as many items as are asked for, up to the most of its list', async () => {
    const limitOf = async (limit: string) => (await read(pagesOf('events'), null, { limit })).limit
    expect([await limitOf('050'), await limitOf('700'), await limitOf('9'.repeat(400))]).toEqual([
      50, 100, 100,
    ])
  })

  it('goes on behind its last item, with the filters and the limit of the one before', async () => {
    const pages = pagesOf('events')
    expect(await read(pages, null, { colour: 'red' })).toEqual(first)
    const rows = [1, 2, 3].map((at) => ({ at, part: 0 }))
    const fetch = async ({ limit }: { limit: number }) => rows.slice(0, limit)
    const answer = await pages.answer(
      { ...first, limit: 2 },
      fetch,
      (row) => row,
      ({ at }) => at,
    )
    expect(answer).toEqual({
      items: [1, 2],
      pagination: { limit: 2, hasMore: true, nextCursor: expect.any(String) },
    })
    const next = await read(pages, answer.pagination.nextCursor)
    expect(next).toEqual({ ...first, limit: 2, after: { at: 2, part: 0 } })
    const whole = await pages.answer(
      { ...first, limit: 3 },
      fetch,
      (row) => row,
      ({ at }) => at,
    )
    expect(whole.pagination).toEqual({ limit: 3, hasMore: false, nextCursor: null })
  })
})

describe('a cursor', () => {
  const after = { at: 7, part: 2 }

  it('is good for a day, or for ever in a list that says so', async () => {
    const [events, feed] = [pagesOf('events'), pagesOf('feed', null)]
    const [ofEvents, ofFeed] = [events.cursorBehind(first, after), feed.cursorBehind(first, after)]
    nowMs += 24 * 3_600_000 - 1
    expect((await read(events, ofEvents)).after).toEqual(after)
    nowMs += 1
    await expect(read(events, ofEvents)).rejects.toThrow(AppError)
    nowMs += 10 * YEAR_MS
    expect((await read(feed, ofFeed)).after).toEqual(after)
  })

  it('is of its list and plan, and its filters are not to be changed', async () => {
    const pages = pagesOf('events')
    const cursor = pages.cursorBehind(first, after)
    expect((await read(pages, cursor, { colour: 'red' })).filters).toEqual({ colour: 'red' })
    await expect(read(pages, cursor, { colour: 'blue' })).rejects.toThrow(AppError)
    await expect(read(pagesOf('messages'), cursor)).rejects.toThrow(AppError)
    await expect(read(pages, pages.cursorBehind({ ...first, planId: 2 }, after))).rejects.toThrow(AppError)
  })
})
