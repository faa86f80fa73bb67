import { expect, test } from 'vitest'
import type { SubmitPdu } from '../../src/simulator/submissions.ts'
import { Submissions } from '../../src/simulator/submissions.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'

test('the oldest tenth goes when the list is full; payloads are copies', () => {
  const octets = encodePdu({
    command: 'submit_sm',
    destination_addr: '1',
    short_message: Buffer.from('hello'),
  })
  const submissions = new Submissions(20)
  for (let index = 0; index < 21; index += 1)
    submissions.add(decodePdu(octets) as SubmitPdu, `${index}`, index)
  octets.fill(0)
  expect(submissions.list.map(({ messageId }) => messageId)).toEqual(
    Array.from({ length: 19 }, (_, index) => `${index + 2}`),
  )
  expect(submissions.list[0]).toEqual({
    messageId: '2',
    source: '',
    destination: '1',
    payload: Buffer.from('hello'),
    receivedAt: new Date(2),
  })
})
