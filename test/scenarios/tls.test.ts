import { expect } from 'vitest'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import { eventually, startService } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import { scenario } from './stage.ts'

scenario('M63', async () => {
  const authority = await createTestAuthority()
  const stranger = await createTestAuthority('Unknown authority')
  const smscOf = async (...made: Parameters<typeof createServerCertificate>) => {
    const { certPem, keyPem } = await createServerCertificate(...made)
    return startSmsc(0, { cert: certPem, key: keyPem })
  }
  await using other = await smscOf(stranger, ['127.0.0.1'])
  await using expired = await smscOf(authority, ['127.0.0.1'], { expired: true })
  await using misnamed = await smscOf(authority, ['smsc.example.net'])
  await using right = await smscOf(authority, ['127.0.0.1'])
  await using service = await startService({
    smscPort: other.port,
    carrier: { tls: true, tlsCa: authority.certPem },
    bound: false,
  })
  const msgId = await service.sent()
  const refused = [
    [other, 'unable to verify the first certificate'],
    [expired, 'certificate has expired'],
    [misnamed, "does not match certificate's altnames"],
  ] as const
  for (const [smsc, reason] of refused) {
    await service.admin('PATCH', '/carriers/main', { port: smsc.port })
    await eventually(async () =>
      (await service.admin('GET', '/carriers/main')).link?.lastError?.includes(reason),
    )
    expect(smsc.binds).toEqual([])
    expect((await service.get(msgId)).body.status).toBe('QUEUED')
  }
  await service.admin('PATCH', '/carriers/main', { port: right.port })
  await service.until(msgId, 'SENT')
  await service.untilWebhooks(msgId, ['SENT'])
  expect([right.binds.length, right.submits.length]).toEqual([1, 1])
})
