import { describe, expect, it } from 'vitest'
import { type EventPayload, feedPage } from '../../src/domain/events.ts'

function event(body: string): { payload: EventPayload } {
  const inbound = { planId: 1, msgId: 'id', sender: 'a', recipient: 'b', body, keyword: null }
  return { payload: { direction: 'MO', inbound } }
}

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
