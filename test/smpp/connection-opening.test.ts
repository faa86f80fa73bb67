import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/smpp/connection.ts'
import { BIND, cleanUp, esmeTo, later, SUBMIT, smscServer } from './connection-harness.ts'
import { rawServer } from './raw-peer.ts'

afterEach(cleanUp)

describe('connecting', () => {
  test('to a closed port: connect_failed, reported once, and every wait ends', async () => {
    const { port, server } = await rawServer()
    await new Promise((closed) => server.close(closed))
    const { connection, ended } = esmeTo(port)
    const [reason] = await ended
    expect(reason).toMatchObject({ code: 'connect_failed', error: { code: 'ECONNREFUSED' } })
    await connection.unbind()
    await expect(connection.whenBound()).rejects.toThrow('closed: connect_failed')
  })

  test('to a peer that never completes the TLS handshake: connect_timeout', async () => {
    const { port, server } = await rawServer()
    later(() => server.close())
    const { connection, ended } = esmeTo(port, { tls: true, connectTimeoutMs: 30 })
    expect((await ended)[0]).toEqual({ code: 'connect_timeout' })
    await connection.whenClosed()
  })

  test('a bind that does not fit is refused by connect itself', () => {
    expect(() =>
      connect({ host: '127.0.0.1', port: 1, bind: { ...BIND, password: 'x'.repeat(65) } }),
    ).toThrow(/^password: /)
  })

  test('closed before it is open', async () => {
    const { port, server } = await rawServer()
    later(() => server.close())
    const { connection, ended } = esmeTo(port)
    await connection.close()
    expect(await ended).toEqual([{ code: 'local' }, []])
  })

  test('over TLS, both sides ours', async () => {
    // A pre-shared key spares the test a certificate.
    const psk = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
    const key = Buffer.alloc(16, 7)
    const { port } = await smscServer({}, { tls: { ...psk, pskCallback: () => key } })
    const { connection } = esmeTo(port, {
      tls: {
        ...psk,
        pskCallback: () => ({ psk: key, identity: 'esme' }),
        checkServerIdentity: () => undefined,
      },
    })
    expect(await connection.whenBound()).toMatchObject({ system_id: 'smsc' })
    expect(await connection.request(SUBMIT)).toMatchObject({ command: 'submit_sm_resp', message_id: '2' })
    await connection.unbind()
  })
})
