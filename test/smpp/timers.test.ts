import { beforeEach, expect, test } from 'vitest'
import { SessionTimers } from '../../src/smpp/timers.ts'

let timers: SessionTimers

beforeEach(() => {
  timers = new SessionTimers({
    bindTimeoutMs: 10_000,
    enquireLinkIntervalMs: 30_000,
    enquireLinkTimeoutMs: 10_000,
    confirmAnswersMs: 2_000,
    pduReadTimeoutMs: 10_000,
    stallTimeoutMs: 60_000,
    unbindTimeoutMs: 5_000,
  })
})

function bound(nowMs = 0): void {
  timers.opened(nowMs)
  timers.bound()
}

test('nothing runs before the transport is open', () => {
  expect(timers.due(1e9)).toBeNull()
})

test('the bind has its time from the open transport', () => {
  timers.opened(5)
  expect(timers.due(10_004)).toBeNull()
  expect(timers.due(10_005)).toBe('bind_timeout')
  timers.bound()
  expect(timers.due(10_005)).toBeNull()
})

test('an enquire_link is due after silence, whole chunk or part of a PDU alike', () => {
  bound()
  timers.received(20_000, false, true)
  expect(timers.due(49_999)).toBeNull()
  expect(timers.due(50_000)).toBe('enquire_link')
})

test('an enquiry must be answered itself: other traffic does not count', () => {
  bound()
  timers.enquired(30_000)
  timers.received(35_000, false, true)
  expect(timers.due(39_999)).toBeNull()
  expect(timers.due(40_000)).toBe('enquire_link_timeout')
  timers.enquiryAnswered()
  expect(timers.due(40_000)).toBeNull()
})

test('silence after an answer asks for proof of it, one enquiry at a time and without a time limit', () => {
  bound()
  timers.answered(1_000)
  timers.answered(1_500)
  expect(timers.due(3_499)).toBeNull()
  expect(timers.due(3_500)).toBe('confirm_answers')
  timers.confirmationSent()
  timers.answered(4_000)
  expect(timers.due(29_999)).toBeNull()
  timers.enquiryAnswered()
  expect(timers.due(29_999)).toBe('confirm_answers')
})

test('what comes long enough after the last answer is proof', () => {
  bound()
  timers.answered(1_000)
  timers.received(2_999, false, true)
  expect(timers.due(3_000)).toBe('confirm_answers')
  timers.received(3_000, false, true)
  expect(timers.due(3_000)).toBeNull()
})

test('a PDU has its time from its first octet, however many chunks it takes', () => {
  bound()
  timers.received(1_000, true, false)
  timers.received(9_000, true, false)
  expect(timers.due(10_999)).toBeNull()
  expect(timers.due(11_000)).toBe('pdu_read_timeout')
  timers.received(11_000, true, true)
  expect(timers.due(20_999)).toBeNull()
  timers.received(20_999, false, true)
  expect(timers.due(21_000)).toBeNull()
})

test('while reading is paused only the stall is timed', () => {
  bound()
  timers.received(0, true, false)
  timers.enquired(0)
  timers.readingPaused(1_000, false)
  expect(timers.due(60_999)).toBeNull()
  expect(timers.due(61_000)).toBe('inbound_stalled')
  timers.readingPaused(2_000, true)
  expect(timers.due(61_000)).toBe('write_timeout')
  timers.readingResumed(61_000)
  expect(timers.due(70_999)).toBeNull()
  expect(timers.due(71_000)).toBe('pdu_read_timeout')
})

test('an unbind is sent at the latest when it is due, by the soonest of the calls, and answered in its time', () => {
  bound()
  timers.unbindRequested(9_000)
  timers.unbindRequested(6_000)
  timers.unbindRequested(8_000)
  expect(timers.due(5_999)).toBeNull()
  expect(timers.due(6_000)).toBe('send_unbind')
  timers.unbindSent(6_000)
  expect(timers.due(10_999)).toBeNull()
  expect(timers.due(11_000)).toBe('unbind_timeout')
})
