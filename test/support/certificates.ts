import { generate } from 'selfsigned'

/** A certificate authority that lives as long as the test run. */
export interface TestAuthority {
  certPem: string
  keyPem: string
}

/** A key and the certificate an authority signed for it. */
export interface ServerCertificate {
  certPem: string
  keyPem: string
}

const DAY_MS = 86_400_000

/** Makes an authority of its own (EC P-256: a few milliseconds). */
export async function createTestAuthority(name = 'Aldis test authority'): Promise<TestAuthority> {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return { certPem: made.cert, keyPem: made.private }
}

/** Signs a server certificate for DNS names and IP addresses; `expired` gives one that ended yesterday. */
export async function createServerCertificate(
  authority: TestAuthority,
  hosts: readonly string[],
  options: { expired?: boolean } = {},
): Promise<ServerCertificate> {
  const nowMs = Date.now()
  const made = await generate([{ name: 'commonName', value: 'Aldis test receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.keyPem, cert: authority.certPem },
    notBeforeDate: new Date(nowMs - 30 * DAY_MS),
    notAfterDate: new Date(options.expired === true ? nowMs - DAY_MS : nowMs + 30 * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) =>
          /^[\d.]+$|:/.test(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
        ),
      },
    ],
  })
  return { certPem: made.cert, keyPem: made.private }
}
