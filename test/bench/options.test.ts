import { expect, it } from 'vitest'
import { readOptions } from '../../bench/options.ts'

it('reads the options of a comparison', () => {
  const text = '--against kannel --pairs 3 --window 10 --deliver-window 10 --receipt-delay 50-300'
  expect(readOptions(text.split(' '))).toMatchObject({
    against: 'kannel',
    pairs: 3,
    window: 10,
    deliverWindow: 10,
    receiptDelayMs: [50, 300],
    receiptsOutstanding: 0,
    latencyShare: 60,
  })
  expect(readOptions(['--cases', 'late,quiet'])).toMatchObject({ cases: ['late', 'quiet'], nodes: 1 })
  expect(readOptions([])).toMatchObject({
    cases: [],
    against: null,
    pairs: 1,
    window: 500,
    receiptDelayMs: [0, 0],
  })
})

it.each([
  ['--against jasmin', '--against must be kannel'],
  ['--first jasmin', '--first must be aldis or kannel'],
  ['--pairs 0', '--pairs must be a whole number from 1 to 100'],
  ['--latency-share 101', '--latency-share must be a whole number from 1 to 100'],
  ['--receipts-outstanding -1', '--receipts-outstanding'],
  ['--receipt-delay 5-3', '--receipt-delay must be N or MIN-MAX'],
  ['--against kannel --tls', '--against goes with neither'],
  ['--against kannel --seconds 0', '--against goes with neither'],
  ['--workers 65', '--workers must be a whole number from 1 to 64'],
  ['--workers 2 --profile folder', '--workers does not go with --profile'],
  ['--receipts-outstanding 10 --throughput 5', 'does not go with'],
  ['--records 10 --against kannel', '--records does not go with --against'],
  ['--cases window,fast', '--cases must be some of window,outstanding'],
  ['--cases window --against kannel', '--cases goes with neither'],
  ['--cases window --seconds 0', '--cases goes with neither'],
  ['--nodes 3 --workers 2', '--nodes goes with neither'],
  ['--queued 10 --throughput 5', '--queued goes with neither'],
  ['--record-days 90', '--record-days must be a whole number from 1 to 89'],
])('refuses %s', (text, reason) => {
  expect(() => readOptions(text.split(' '))).toThrow(reason)
})
