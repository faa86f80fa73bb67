import { expect, it } from 'vitest'
import { startService } from '../support/service.ts'

it('a node that stops does not wait for a receiver that hangs', async () => {
  await using service = await startService()
  const { receiver, servicePlanId, token, app, logs } = service
  receiver.answerWith(() => undefined)
  const answered = fetch(`${app.url}/v1/webhooks/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ servicePlanId, url: receiver.origin }),
  }).catch(() => null)
  await receiver.next(({ headers }) => headers['aldis-test'] === 'true')
  await app.stop()
  await answered
  expect(logs.filter((line) => line.includes('did not stop'))).toEqual([])
})
