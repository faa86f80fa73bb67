import { expect, test } from 'vitest'
import { Window, type WindowOptions } from '../../src/smpp/window.ts'

const SUBMIT = 4
const DELIVER = 5

function windowOf(options: Partial<WindowOptions> = {}): Window<string> {
  return new Window({
    size: 3,
    responseTimeoutMs: 1_000,
    lateLimit: 2,
    lateTtlMs: 5_000,
    initialSequence: 0,
    ...options,
  })
}

/** Adds a submit_sm and returns its sequence number. */
function submit(window: Window<string>, token: string, sentAtMs = 0, internal = false): number {
  const sequence = window.nextSequence()
  window.add({ sequence, commandId: SUBMIT, token, sentAtMs, internal })
  return sequence
}

test('free counts the requests of the application, not those of the session', () => {
  const window = windowOf()
  submit(window, 'a')
  submit(window, 'session', 0, true)
  expect([window.free, window.unanswered]).toEqual([2, 1])
})

test('a request is taken once, and only by a response of its command or a generic_nack', () => {
  const window = windowOf()
  const sequence = submit(window, 'a')
  expect(window.take(sequence, DELIVER)).toBeUndefined()
  expect(window.take(sequence + 1, SUBMIT)).toBeUndefined()
  expect(window.take(sequence, SUBMIT)?.token).toBe('a')
  expect(window.take(sequence, SUBMIT)).toBeUndefined()
  expect(window.take(submit(window, 'b'), 0)?.token).toBe('b')
  expect(window.free).toBe(3)
})

test('sequence numbers wrap from 0x7FFFFFFF to 1 and skip those a response may still name', () => {
  const window = windowOf({ initialSequence: 0x7ffffffd })
  expect(submit(window, 'a')).toBe(0x7ffffffe)
  expect(submit(window, 'b')).toBe(0x7fffffff)
  expect(submit(window, 'c')).toBe(1)
  const crowded = windowOf()
  crowded.add({ sequence: 1, commandId: SUBMIT, token: 'x', sentAtMs: 0, internal: false })
  crowded.add({ sequence: 2, commandId: SUBMIT, token: 'y', sentAtMs: 0, internal: false })
  void [...crowded.expire(1_000)]
  crowded.add({ sequence: 3, commandId: SUBMIT, token: 'z', sentAtMs: 1_000, internal: false })
  expect(crowded.nextSequence()).toBe(4)
})

test('requests expire when their time is up, oldest first, and free their place', () => {
  const window = windowOf()
  submit(window, 'a', 0)
  submit(window, 'session', 0, true)
  submit(window, 'b', 10)
  submit(window, 'c', 20)
  expect([...window.expire(999)]).toEqual([])
  expect([...window.expire(1_010)].map((entry) => entry.token)).toEqual(['a', 'b'])
  expect(window.free).toBe(2)
})

test('an expired request is found by its late response, once', () => {
  const window = windowOf()
  const sequence = submit(window, 'a')
  void [...window.expire(1_000)]
  expect(window.take(sequence, SUBMIT)).toBeUndefined()
  expect(window.takeLate(sequence, DELIVER)).toBeUndefined()
  expect(window.takeLate(sequence, SUBMIT)?.token).toBe('a')
  expect(window.takeLate(sequence, SUBMIT)).toBeUndefined()
})

test('the late ones are bounded in number and in time', () => {
  const window = windowOf()
  const sequences = ['a', 'b', 'c'].map((token) => submit(window, token))
  void [...window.expire(1_000)]
  expect(window.takeLate(sequences[0]!, SUBMIT)).toBeUndefined()
  expect(window.takeLate(sequences[1]!, SUBMIT)?.token).toBe('b')
  void [...window.expire(6_000)]
  expect(window.takeLate(sequences[2]!, SUBMIT)).toBeUndefined()
})

test('draining gives the unanswered tokens in the order of sending and forgets everything', () => {
  const window = windowOf()
  submit(window, 'late')
  void [...window.expire(1_000)]
  submit(window, 'a', 1_000)
  submit(window, 'session', 1_000, true)
  submit(window, 'b', 1_000)
  expect(window.drain()).toEqual(['a', 'b'])
  expect([window.free, window.takeLate(1, SUBMIT)]).toEqual([3, undefined])
})
