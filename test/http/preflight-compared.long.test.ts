import { expect, test } from 'vitest'
import { startHttpService } from '../support/http-service.ts'
import { CALLBACK_VERDICTS, compareCallbackUrls, UNBOUNDED } from './preflight-compared.ts'

test('of every callbackUrl of the vectors a preflight tells what the send is answered', async () => {
  await using service = await startHttpService({ limits: UNBOUNDED })
  const cases = [...CALLBACK_VERDICTS.values()].flat()
  expect(cases.length).toBeGreaterThan(700)
  await compareCallbackUrls(service, cases)
})
