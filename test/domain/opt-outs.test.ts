import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DEFAULT_OPT_OUT,
  matchKeyword,
  optOutFaults,
  optOutRequest,
  replyTo,
} from '../../src/domain/opt-outs.ts'

const request = (text: string, changes = {}) => optOutRequest(text, { ...DEFAULT_OPT_OUT, ...changes })

describe('what a message asks for', () => {
  test.each([
    ...DEFAULT_OPT_OUT.stopWords.map((word) => [word, 'stop']),
    ...DEFAULT_OPT_OUT.startWords.map((word) => [word, 'start']),
    ...DEFAULT_OPT_OUT.helpWords.map((word) => [word, 'help']),
    ['stop', 'stop'],
    ['  Stop \r\n', 'stop'],
    ['STOP.', 'stop'],
    ['"stop"', 'stop'],
    ['“Stop!”', 'stop'],
    ['¡STOP!', 'stop'],
    ['‘stop’', 'stop'],
    ['*STOP*', 'stop'],
    ['S.T.O.P.', 'stop'],
    ['stop all', 'stop'],
    ['Opt out', 'stop'],
    ['opt-out', 'stop'],
    ['ＳＴＯＰ', 'stop'],
    ['STOP 🙏🏽', 'stop'],
    ['stop ❤️', 'stop'],
    ['\u200eSTOP\u200b', 'stop'],
    ['yes!!', 'start'],
    ['help?', 'help'],
  ])('%j is %s', (text, wanted) => {
    expect(request(text)).toBe(wanted)
  })

  test.each([
    '',
    ' \n',
    '!?',
    '🙏',
    'stop by at 5',
    "don't stop",
    'STOP please',
    'please stop',
    'cancel my order',
    'End of the month?',
    'yes please',
    'stopped',
    'nonstop',
    'stop stop',
    'STÖP',
    `STOP${' '.repeat(160)}`,
    'constructor',
    '__proto__',
  ])('%j is nothing', (text) => {
    expect(request(text)).toBeNull()
  })

  test.each([
    ['ARRÊT', 'arrêt'],
    ['ARRÊT', 'arre\u0302t'],
    ['СТОП', 'стоп!'],
    ['停止', '「停止」'],
    ['रोकें', 'रोकें।'],
    ['توقف', '«توقف»'],
    ['Please stop', 'PLEASE, STOP'],
    ['0', '0.'],
  ])('the word %j in %j', (word, text) => {
    expect(request(text, { stopWords: [word] })).toBe('stop')
  })

  test('only the words that are set', () => {
    expect(request('STOP', { stopWords: ['ARRET'] })).toBeNull()
  })

  test('every word that passes asks for what it stands for, and text never throws', () => {
    const word = fc.string({ minLength: 1, maxLength: 32, unit: 'grapheme' })
    fc.assert(
      fc.property(word, (given) => {
        const settings = { ...DEFAULT_OPT_OUT, stopWords: [given] }
        if (optOutFaults(settings).length === 0) expect(optOutRequest(` “${given}”! `, settings)).toBe('stop')
        expect(optOutRequest(given, DEFAULT_OPT_OUT) === null || given.length > 2).toBe(true)
      }),
    )
  })
})

test('each request has the text of its own', () => {
  const settings = { ...DEFAULT_OPT_OUT, stopReply: 'out', startReply: 'in' }
  expect([replyTo('stop', settings), replyTo('start', settings), replyTo('help', settings)]).toEqual([
    'out',
    'in',
    null,
  ])
})

describe('settings', () => {
  test('the defaults are in order', () => {
    expect(optOutFaults(DEFAULT_OPT_OUT)).toEqual([])
  })

  test.each([
    ['optOut.helpWords.1', { helpWords: ['HELP', 'Stop!'] }],
    ['optOut.stopWords.1', { stopWords: ['stop', 'ＳＴＯＰ'] }],
    ['optOut.stopWords.0', { stopWords: ['\u200b'] }],
    ['optOut.stopWords.0', { stopWords: ['a\ud800'] }],
    ['optOut.startReply', { startReply: '🚢'.repeat(1601) }],
    ['optOut.startReply', { startReply: 'a\udc00' }],
  ])('%s is at fault in %j', (field, changes) => {
    expect(optOutFaults({ ...DEFAULT_OPT_OUT, ...changes }).map((fault) => fault.field)).toEqual([field])
  })

  test('a reply of 1600 code points is none', () => {
    expect(optOutFaults({ ...DEFAULT_OPT_OUT, helpReply: '🚢'.repeat(1600) })).toEqual([])
  })
})

const KEYWORDS = ['STOP', 'Win', 'ÉTÉ', 'a.', 'constructor']

describe('matchKeyword', () => {
  test.each([
    ['STOP', 'STOP'],
    ['stop please', 'STOP'],
    ['  sToP\nnow', 'STOP'],
    ['WIN', 'Win'],
    ['Stop!', 'STOP'],
    ['"win" is not first when quoted', null],
    ['été', 'ÉTÉ'],
    ['e\u0301te\u0301', 'ÉTÉ'],
    ['A.', 'a.'],
    ['a', null],
    ['Constructor', 'constructor'],
    ['__proto__', null],
    ['please stop', null],
    ['stopping', null],
    ['', null],
    [' \n\t', null],
    ['!!!', null],
  ])('%j -> %j', (text, keyword) => {
    expect(matchKeyword(text, KEYWORDS)).toBe(keyword)
  })

  test('a blank keyword matches nothing', () => {
    expect(matchKeyword('!', ['', ' '])).toBeNull()
    expect(matchKeyword('hello', [])).toBeNull()
  })
})
