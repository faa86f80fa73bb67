import { expect, it } from 'vitest'
import type { CaseRun } from '../../bench/cases.ts'
import type { Run } from '../../bench/comparison.ts'
import type { EndToEnd } from '../../bench/end-to-end.ts'
import { kannelConfiguration } from '../../bench/kannel/configuration.ts'
import { readOptions } from '../../bench/options.ts'
import { casesText, comparisonText, figuresText } from '../../bench/report.ts'

const LATENCY = { count: 10, p50: 1, p99: 2, max: 3 }
const LATENCIES = { accept: LATENCY, acceptToDelivered: LATENCY, receiptToDelivered: LATENCY }

function run(name: Run['name'], perSecond: number, service: number, toolsShare: number): Run {
  const endToEnd: EndToEnd = {
    ...LATENCIES,
    fromUs: 0,
    toUs: 1_000_000,
    messages: perSecond,
    seconds: 1,
    perSecond,
    eachSecond: [perSecond - 1, perSecond + 1],
    cpu: {
      subject: name === 'Aldis' ? { Aldis: service, PostgreSQL: 0.25 } : { bearerbox: service },
      tools: { load: 0.01, bench: 0.02 },
    },
    toolsShare,
    idle: 0.125,
    others: 0.05,
    loadAverage: 0.5,
    peakMemoryMib: 100,
    walBytes: name === 'Aldis' ? 4_000 : null,
    carrier: { accepted: perSecond, throttled: 0 },
  }
  return { name, checked: 10, endToEnd, paced: { ...LATENCIES, perSecond: perSecond * 0.6 } }
}

const PAIR = { aldis: run('Aldis', 3_000, 0.25, 0.1), kannel: run('Kannel', 2_000, 1, 0.2) }

it('a comparison has a row for each run, the ratios of each pair, and a warning where the tools took too much', () => {
  const options = readOptions(['--against', 'kannel'])!
  const text = comparisonText({ machine: {}, options, pairs: [PAIR] })
  expect(text).toMatch(
    /^Aldis +3,000 +2999-3001 +0\.500 +Aldis 0\.250, PostgreSQL 0\.250 +load 0\.010, bench 0\.020 +10\.0 % +12\.5 % +5\.0 % +0\.50 +100 +4,000$/m,
  )
  expect(text).toMatch(
    /^Kannel +2,000 +1999-2001 +1\.000 +bearerbox 1\.000 +load .* +20\.0 % +12\.5 % +5\.0 % +0\.50 +100 +-$/m,
  )
  expect(text).toMatch(/^pair 1 +1\.50 x the rate of Kannel, 0\.50 x its CPU a message$/m)
  expect(text).toMatch(/Aldis full: accept p50 1\.0 p99 2\.0 ms, .*; at 1,800\/s: accept/)
  expect(text.match(/^warning .*$/gm)).toEqual([expect.stringMatching(/a run of Kannel took 20\.0 %$/)])
  expect(text).toMatch(/^totals +20 accepted/m)
})

it('several pairs have their spread', () => {
  const options = readOptions(['--against', 'kannel'])!
  const faster = { ...PAIR, aldis: run('Aldis', 4_000, 0.25, 0.1) }
  const slower = { ...PAIR, aldis: run('Aldis', 1_000, 1.75, 0.1) }
  const text = comparisonText({ machine: {}, options, pairs: [faster, PAIR, slower] })
  expect(text).toMatch(
    /^all pairs +1\.50 \(0\.50 to 2\.00\) x the rate of Kannel, 0\.50 \(0\.50 to 2\.00\) x its CPU a message$/m,
  )
})

const FIGURES = {
  machine: {},
  paced: null,
  queued: null,
  accepts: null,
  checked: 10,
  lists: null,
  webhooks: null,
  additions: null,
}

it('an addition is shown beside the message that was measured, and all of them together', () => {
  const additions = [
    { name: 'caps', nodeUs: 1.5, databaseUs: 0.5 },
    { name: 'statistics', nodeUs: 1, databaseUs: 0 },
  ]
  const { endToEnd } = run('Aldis', 4_000, 0.15, 0.1)
  const text = figuresText({ ...FIGURES, options: readOptions([])!, endToEnd, additions })
  expect(text).toMatch(/^caps +2\.00 µs of CPU a message, 0\.50 %$/m)
  expect(text).toMatch(
    /^all additions together +3\.00 µs of CPU a message, 0\.75 % \(wanted: at most 2 %\)$/m,
  )
})

it('a case has its share of the full rate before it, and one without figures says why', () => {
  const options = readOptions(['--cases', 'window,quiet'])!
  const figures = (perSecond: number, service: number) => ({
    ...FIGURES,
    options,
    endToEnd: run('Aldis', perSecond, service, 0.1).endToEnd,
  })
  const window: CaseRun = {
    name: 'window',
    what: 'windows of 10 both ways',
    leastShare: 0.8,
    full: figures(4_000, 0.25),
    figures: figures(3_000, 0.5),
  }
  const failures = [{ name: 'late' as const, failure: 'Aldis: 3 receipts were not sent' }]
  const text = casesText({ options, runs: [window], failures })
  expect(text).toMatch(/^full rate +4,000 .*\nwindow +3,000 /m)
  expect(text).toMatch(
    /^ {2}of the full rate +75\.0 % \(wanted: 80 % or more\), at 1\.50 x its CPU a message$/m,
  )
  expect(text).toMatch(/^late +no figures: Aldis: 3 receipts were not sent$/m)
})

it('the configuration of Kannel stores nothing and has the window of Aldis', () => {
  const ports = { adminPort: 1, smsboxPort: 2, sendsmsPort: 3, carrierPort: 4 }
  const text = kannelConfiguration({ ...ports, window: 77 })
  expect(text).toContain('max-pending-submits = 77\n')
  expect(text).toContain('dlr-storage = internal\n')
  expect(text).not.toContain('store-type')
  expect(text.match(/^group = (.*)$/gm)).toEqual(
    ['core', 'smsc', 'smsbox', 'sendsms-user', 'sms-service'].map((name) => `group = ${name}`),
  )
})
