import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Carrier } from '../../../src/domain/configuration/configuration.ts'
import { CarrierLinks } from '../../../src/services/links/carrier-links.ts'
import {
  createServerCertificate,
  createTestAuthority,
  type TestAuthority,
} from '../../support/certificates.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { quietLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

const holdsAll = () => true
let folder: string
let authority: TestAuthority
let stranger: TestAuthority
let ofTheSystem: TestAuthority
let smsc: Smsc
let links: CarrierLinks<string>
/** Names that clients asked for (SNI). */
let asked: string[]

beforeAll(async () => {
  authority = await createTestAuthority()
  stranger = await createTestAuthority('Unknown authority')
  ofTheSystem = await createTestAuthority('Authority of the system')
  folder = mkdtempSync(join(tmpdir(), 'aldis-'))
  const file = join(folder, 'system.pem')
  writeFileSync(file, ofTheSystem.certPem)
  process.env.SSL_CERT_FILE = file
})

afterEach(async () => {
  await links.stop()
  await smsc[Symbol.asyncDispose]()
})

afterAll(() => {
  delete process.env.SSL_CERT_FILE
  rmSync(folder, { recursive: true })
})

/** An SMSC whose certificate is for these hosts, and a link to it. */
async function start(
  hosts: readonly string[],
  carrier: Partial<Carrier>,
  options: { by?: TestAuthority; expired?: boolean; connectTimeoutMs?: number } = {},
): Promise<void> {
  const { by = authority, expired = false, ...timings } = options
  const { certPem, keyPem } = await createServerCertificate(by, hosts, { expired })
  asked = []
  smsc = await startSmsc(0, {
    cert: certPem,
    key: keyPem,
    SNICallback: (name, done) => {
      asked.push(name)
      done(null)
    },
  })
  links = new CarrierLinks<string>({
    timings: { backoffMs: 20, unbindTimeoutMs: 100, ...timings },
    log: quietLog,
  })
  links.heardBy({
    submitter: {
      onReady: () => undefined,
      onResponse: () => undefined,
      onTimeout: () => undefined,
      onLateResponse: () => undefined,
      onLost: () => undefined,
    },
    receiver: { onRequest: () => undefined },
  })
  const settings = { tls: true, tlsCa: authority.certPem, port: smsc.port, ...carrier }
  links.adopt(aDirectory({ carriers: [aCarrier(settings)] }), holdsAll)
}

const bound = () => eventually(() => links.canSubmit(1))

async function refusedWith(reason: RegExp): Promise<void> {
  await eventually(() => links.status(1)[0]?.lastClose)
  expect(links.summary(1)?.lastError).toMatch(reason)
  expect(smsc.binds).toEqual([])
}

test('a certificate of its authority, for its address; no name is asked for', async () => {
  await start(['127.0.0.1'], {})
  await bound()
  expect(asked).toEqual([])
})

test('for its host name, which is asked for', async () => {
  await start(['localhost'], { host: 'localhost' })
  await bound()
  expect(asked).toEqual(['localhost'])
})

test('for its server name, in place of its host', async () => {
  await start(['smsc.example.net'], { tlsServerName: 'smsc.example.net' })
  await bound()
  expect(asked).toEqual(['smsc.example.net'])
})

test('a server name that is an address is checked and not asked for', async () => {
  await start(['192.0.2.7'], { tlsServerName: '192.0.2.7' })
  await bound()
  expect(asked).toEqual([])
})

test('one of several authorities', async () => {
  await start(['127.0.0.1'], { tlsCa: `${stranger.certPem}\n${authority.certPem}` })
  await bound()
})

test('without authorities of its own those of the system hold', async () => {
  await start(['127.0.0.1'], { tlsCa: null }, { by: ofTheSystem })
  await bound()
})

test('of an authority the system does not know: refused, with the reason', async () => {
  await start(['127.0.0.1'], { tlsCa: null })
  await refusedWith(/^connect_failed: unable to verify the first certificate; .* --tls-ca$/)
})

test('of another authority than its own: refused, with the reason', async () => {
  await start(['127.0.0.1'], {}, { by: stranger })
  await refusedWith(/^connect_failed: unable to verify the first certificate; .* --tls-ca$/)
})

test('with authorities of its own those of the system do not hold', async () => {
  await start(['127.0.0.1'], {}, { by: ofTheSystem })
  await refusedWith(/^connect_failed: unable to verify the first certificate; .* --tls-ca$/)
})

test('whatever the environment says', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    await start(['127.0.0.1'], {}, { by: stranger })
    await refusedWith(/^connect_failed: unable to verify the first certificate; .* --tls-ca$/)
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  }
})

test('expired: refused, with the reason', async () => {
  await start(['127.0.0.1'], {}, { expired: true })
  await refusedWith(/^connect_failed: certificate has expired/)
})

test.each<[string, Partial<Carrier>]>([
  ['host', {}],
  ['server name', { tlsServerName: 'other.example.net' }],
  ['address as server name', { tlsServerName: '192.0.2.8' }],
])('for another %s: refused, with the reason', async (_, carrier) => {
  await start(['smsc.example.net', '192.0.2.7'], carrier)
  await refusedWith(
    /^connect_failed: Hostname\/IP does not match certificate's altnames: .* --tls-server-name$/,
  )
})

test('a carrier that does not speak TLS: refused, with the reason', async () => {
  await start(['127.0.0.1'], {}, { connectTimeoutMs: 1_000 })
  await bound()
  const plain = await startSmsc()
  links.adopt(aDirectory({ carriers: [aCarrier({ tls: true, port: plain.port })] }), holdsAll)
  await eventually(() => links.status(1)[0]?.lastClose?.startsWith('connect_'))
  await plain[Symbol.asyncDispose]()
})
