import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fifo } from '../../src/simulator/fifo.ts'

test('is an array used from both ends', () => {
  const operation = fc.oneof(fc.constant('shift' as const), fc.nat(), fc.array(fc.nat(), { maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const fifo = new Fifo<number>()
      const model: number[] = []
      for (const step of operations) {
        if (step === 'shift') {
          expect(fifo.shift()).toBe(model.shift())
        } else if (typeof step === 'number') {
          fifo.push(step)
          model.push(step)
        } else {
          fifo.unshift(step)
          model.unshift(...step)
        }
        expect(fifo.size).toBe(model.length)
      }
    }),
  )
})

test('stays in order over many thousands', () => {
  const fifo = new Fifo<number>()
  let taken = 0
  for (let pushed = 0; pushed < 20_000; pushed += 1) {
    fifo.push(pushed)
    if (pushed % 3 > 0) expect(fifo.shift()).toBe(taken++)
  }
  expect(fifo.size).toBe(20_000 - taken)
  expect(fifo.shift()).toBe(taken)
})
