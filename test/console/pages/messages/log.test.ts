import { describe, expect, it } from 'vitest'
import { meaningOf } from '../../../../console/src/kit/error-codes.ts'
import { csvLine } from '../../../../console/src/pages/messages/log/csv.ts'
import { meaningsOf } from '../../../../console/src/pages/messages/log/lookup.ts'
import {
  changed,
  isBehind,
  unseen,
  withStates,
  withUnseen,
} from '../../../../console/src/pages/messages/log/tail.ts'
import { FAILURES } from '../../../../src/domain/error-codes.ts'

describe('a line of CSV', () => {
  it('quotes what needs it', () => {
    expect(csvLine(['a', 'b,c', 'say "hi"', 'two\nlines', 1.5, null])).toBe(
      'a,"b,c","say ""hi""","two\nlines",1.5,\r\n',
    )
  })

  it('takes the danger from what a spreadsheet would calculate, and leaves telephone numbers', () => {
    for (const text of ['=1+1', '+1+1', '-2', '@SUM(A1)', ' =1', '＝1', '\t=1'])
      expect(csvLine([text])).toMatch(/^"?'/)
    expect(csvLine(['+15551230000'])).toBe('+15551230000\r\n')
  })
})

describe('a text to look up', () => {
  const all = ['from', 'to', 'carrierMessageId'] as const
  it.each([
    ['01A20867-6643-7916-bf61-5ebb23dd5002', ['message']],
    ['01a20867-6643-7916-bf61-5ebb23dd5002-2', ['message']],
    ['+1 (555) 123-0001', ['to', 'from']],
    ['0049 170 1234567', ['to', 'from']],
    ['12345', ['from', 'carrierMessageId']],
    ['1795437323567011', ['carrierMessageId']],
    ['Aldis', ['from', 'carrierMessageId']],
    ['ä', []],
  ])('%s', (typed, kinds) => {
    expect(meaningsOf(typed, all).map(({ kind }) => kind)).toEqual(kinds)
  })
})

describe('the live tail', () => {
  const page = (ids: string, nextAfter: string | null = null, state = 'old') => ({
    items: [...ids].map((msgId) => ({ msgId, state })),
    nextAfter,
  })
  const shown = { pages: [page('fe', 'e'), page('dc', 'c')], pageParams: [{}, { after: 'e' }] }
  const ids = (pages: readonly { items: { msgId: string }[] }[]) =>
    pages.map(({ items }) => items.map(({ msgId }) => msgId).join(''))

  it('holds new messages back, and puts them above those that are shown', () => {
    const newest = page('hgfe', 'e')
    expect(unseen(shown, newest).map(({ msgId }) => msgId)).toEqual(['h', 'g'])
    expect(ids(withUnseen(shown, newest).pages)).toEqual(['hgfe', 'dc'])
  })

  it('shows new states in place', () => {
    const { pages } = withStates(shown, page('gfed', 'd', 'new'))
    expect(ids(pages)).toEqual(['fe', 'dc'])
    const states = pages.map(({ items }) => (items as { state: string }[]).map(({ state }) => state))
    expect(states).toEqual([
      ['new', 'new'],
      ['new', 'old'],
    ])
  })

  it('begins anew where it cannot tell what is between', () => {
    const newest = page('zyx', 'x')
    expect(isBehind(shown, newest)).toBe(true)
    expect(ids(withUnseen(shown, newest).pages)).toEqual(['zyx'])
    expect(isBehind(shown, page('gf', 'f'))).toBe(false)
  })

  it('says which rows no longer match', () => {
    expect([...changed(shown, page('ged', 'd'))]).toEqual(['f'])
    expect([...changed(shown, page('f'))]).toEqual(['e', 'd', 'c'])
    expect([...changed(shown, page('', 'x'))]).toEqual([])
  })
})

it('every error code has its meaning', () => {
  const titles = Object.keys(FAILURES).map((code) => [code, meaningOf(code)?.title])
  expect(Object.fromEntries(titles)).toEqual(FAILURES)
})
