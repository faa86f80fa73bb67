import { describe, expect, it } from 'vitest'
import { feedPage, parseFeedQuery } from '../../src/domain/event-feed.ts'
import type { Told } from '../../src/domain/events.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'

function event(body: string): { told: Told } {
  const inbound = { planId: 1, msgId: 'id', sender: 'a', recipient: 'b', body, keyword: null }
  return { told: { direction: 'MO', inbound } }
}

describe('parseFeedQuery', () => {
  it('needs nothing but the plan', () => {
    const query = { servicePlanId: PLAN, filters: { since: null }, limit: null, cursor: null }
    expect(parseFeedQuery({ servicePlanId: PLAN })).toEqual({ ok: true, query })
  })

  it('reads since, rounded up so that nothing from before is in it, and caps the limit', () => {
    const verdict = parseFeedQuery({ servicePlanId: PLAN, since: '2026-03-01T12:00:00.0001Z', limit: '5000' })
    const since = Date.parse('2026-03-01T12:00:00.001Z')
    expect(verdict).toMatchObject({ ok: true, query: { filters: { since }, limit: 1000 } })
  })

  it('lists every fault', () => {
    const verdict = parseFeedQuery({ since: 'yesterday', limit: '0', 'cursor[]': 'a' })
    const faults = verdict.ok ? [] : verdict.faults.map(({ field, code }) => `${field} ${code}`)
    expect(faults.sort()).toEqual([
      'cursor REPEATED',
      'limit INVALID_FORMAT',
      'servicePlanId REQUIRED',
      'since INVALID_FORMAT',
    ])
  })
})

describe('feedPage', () => {
  it('has at most `limit` events', () => {
    const events = ['a', 'b', 'c'].map(event)
    expect(feedPage(events, 2)).toEqual(events.slice(0, 2))
    expect(feedPage(events, 3)).toEqual(events)
    expect(feedPage(events, 4)).toEqual(events)
    expect(feedPage([], 4)).toEqual([])
  })

  it('ends with the text that fills it, by bytes, and has one event at least', () => {
    const events = Array.from({ length: 10 }, () => event('é'.repeat(350_000)))
    expect(feedPage(events, 10)).toEqual(events.slice(0, 3))
    const huge = [event('x'.repeat(3_000_000)), event('x')]
    expect(feedPage(huge, 10)).toEqual(huge.slice(0, 1))
  })
})
