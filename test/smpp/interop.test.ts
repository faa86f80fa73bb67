import type { AddressInfo } from 'node:net'
import smpp, { type NodePdu, type NodeSession } from 'smpp'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/smpp/connection.ts'
import { listen } from '../../src/smpp/listener.ts'
import { messageOctets, type PduOf, type RequestPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'

const UDH = Buffer.from([5, 0, 3, 0x2a, 2, 1])
const RECEIPT =
  'id:m-1 sub:001 dlvrd:001 submit date:2501010000 done date:2501010001 stat:DELIVRD err:000 text:hi'
const BIND = { system_id: 'esme', password: 'secret' }

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The npm package as SMSC; `session` is its first peer. */
async function nodeSmsc(onSession: (session: NodeSession) => void): Promise<number> {
  const server = smpp.createServer(onSession)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  cleanups.push(() => new Promise((closed) => server.close(closed)))
  return (server.address() as AddressInfo).port
}

/** Sends a request of the npm package and gives its response. */
const ask = (
  session: NodeSession,
  command: 'bind_transceiver' | 'submit_sm' | 'deliver_sm' | 'enquire_link' | 'unbind',
  fields = {},
) => new Promise<NodePdu>((answered) => session[command](fields, answered))

/** The SMSC of the first test: after the first submit it sends a receipt, an MO and an enquire_link. */
function serve(session: NodeSession, submits: NodePdu[], delivered: NodePdu[]): void {
  session.on('error', () => undefined)
  session.on('bind_transceiver', (pdu: NodePdu) => {
    const known = pdu.system_id === BIND.system_id && pdu.password === BIND.password
    session.send(pdu.response({ system_id: 'node', command_status: known ? 0 : STATUSES.ESME_RINVPASWD }))
  })
  session.on('submit_sm', async (pdu: NodePdu) => {
    submits.push(pdu)
    session.send(pdu.response({ message_id: `m-${submits.length}` }))
    if (submits.length > 1) return
    const receipt = {
      esm_class: 4,
      source_addr: '447700900123',
      destination_addr: 'Aldis',
      short_message: Buffer.from(RECEIPT),
      receipted_message_id: 'm-1',
      message_state: 2,
      network_error_code: Buffer.from([3, 0, 0]),
    }
    const mo = {
      source_addr: '447700900123',
      destination_addr: '12345',
      data_coding: 8,
      message_payload: Buffer.from('00480069', 'hex'),
    }
    delivered.push(
      await ask(session, 'deliver_sm', receipt),
      await ask(session, 'deliver_sm', mo),
      await ask(session, 'enquire_link'),
    )
  })
  session.on('unbind', (pdu: NodePdu) => {
    session.send(pdu.response())
    session.close()
  })
}

describe('our ESME, the npm package smpp as SMSC', () => {
  test('bind, submit, receipt, MO, concatenated submit, enquire_link, unbind', async () => {
    const submits: NodePdu[] = []
    const delivered: NodePdu[] = []
    const port = await nodeSmsc((session) => serve(session, submits, delivered))
    const requests: RequestPdu[] = []
    const link = connect(
      { host: '127.0.0.1', port, bind: { command: 'bind_transceiver', ...BIND } },
      {
        onRequest(pdu, link) {
          requests.push(pdu)
          link.respond(pdu, STATUSES.ESME_ROK)
        },
      },
    )
    cleanups.push(() => link.destroy())
    expect(await link.whenBound()).toMatchObject({ command: 'bind_transceiver_resp', system_id: 'node' })

    const submit = {
      command: 'submit_sm',
      source_addr_ton: 5,
      source_addr: 'Aldis',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
    } as const
    const first = await link.request({
      ...submit,
      destination_addr: '447700900123',
      registered_delivery: 1,
      short_message: Buffer.from('Hello'),
      tlvs: { user_message_reference: 513 },
    })
    expect(first).toMatchObject({ command: 'submit_sm_resp', status: 0, message_id: 'm-1' })
    const second = await link.request({
      ...submit,
      esm_class: 0x40,
      short_message: Buffer.concat([UDH, Buffer.from('part')]),
    })
    expect(second).toMatchObject({ status: 0, message_id: 'm-2' })
    expect(submits[0]).toMatchObject({
      source_addr: 'Aldis',
      destination_addr: '447700900123',
      short_message: { message: 'Hello' },
      user_message_reference: 513,
    })
    expect(submits[1]?.short_message).toMatchObject({ message: 'part' })

    await expect.poll(() => delivered.length).toBe(3)
    expect(delivered.map((pdu) => [pdu.command, pdu.command_status])).toEqual([
      ['deliver_sm_resp', 0],
      ['deliver_sm_resp', 0],
      ['enquire_link_resp', 0],
    ])
    const [receipt, mo] = requests as PduOf<'deliver_sm'>[]
    expect(receipt).toMatchObject({
      esm_class: 4,
      tlvs: { receipted_message_id: 'm-1', message_state: 2, network_error_code: Buffer.from([3, 0, 0]) },
    })
    expect(messageOctets(receipt!).toString()).toBe(RECEIPT)
    expect(messageOctets(mo!).swap16().toString('utf16le')).toBe('Hi')

    await link.unbind()
    expect(Object.values(link.anomalies).every((count) => count === 0)).toBe(true)
  })

  test('a wrong password is refused with its status', async () => {
    const port = await nodeSmsc((session) => {
      session.on('error', () => undefined)
      session.on('bind_transceiver', (pdu: NodePdu) => {
        session.send(pdu.response({ command_status: STATUSES.ESME_RINVPASWD }))
      })
      session.on('close', () => session.destroy())
    })
    const link = connect({ host: '127.0.0.1', port, bind: { command: 'bind_transceiver', ...BIND } })
    await expect(link.whenBound()).rejects.toMatchObject({ reason: { code: 'bind_rejected', status: 0x0e } })
    await link.whenClosed()
  })
})

describe('our SMSC, the npm package smpp as ESME', () => {
  test('bind, submit, receipt, MO, concatenated submit, enquire_link, unbind', async () => {
    const submits: PduOf<'submit_sm'>[] = []
    const answers: [string, string, number][] = []
    const server = await listen<string>({ port: 0 }, () => ({
      onBind(pdu, link) {
        const known = pdu.system_id === BIND.system_id && pdu.password === BIND.password
        link.respond(pdu, known ? STATUSES.ESME_ROK : STATUSES.ESME_RINVPASWD, { system_id: 'aldis' })
      },
      onRequest(pdu, link) {
        submits.push(pdu as PduOf<'submit_sm'>)
        link.respond(pdu, STATUSES.ESME_ROK, { message_id: `m-${submits.length}` })
        if (submits.length > 1) return
        const from = { command: 'deliver_sm', source_addr: '447700900123' } as const
        const short_message = Buffer.from(RECEIPT)
        const tlvs = { receipted_message_id: 'm-1', message_state: 2 }
        link.send({ ...from, esm_class: 4, short_message, tlvs }, 'receipt')
        link.send({ ...from, destination_addr: '12345', short_message: Buffer.from('Hi') }, 'mo')
      },
      onResponse: (token, pdu) => answers.push([token, pdu.command, pdu.status]),
    }))
    cleanups.push(() => server.close())

    const delivers: NodePdu[] = []
    const session = smpp.connect({ host: '127.0.0.1', port: server.port })
    session.on('error', () => undefined)
    session.on('deliver_sm', (pdu: NodePdu) => {
      delivers.push(pdu)
      session.send(pdu.response())
    })
    await new Promise((connected) => session.on('connect', connected))
    cleanups.push(() => session.destroy())

    expect(await ask(session, 'bind_transceiver', { ...BIND, password: 'wrong' })).toMatchObject({
      command_status: 0x0e,
    })
    expect(await ask(session, 'bind_transceiver', BIND)).toMatchObject({
      command_status: 0,
      system_id: 'aldis',
    })
    const hello = { source_addr: 'Aldis', destination_addr: '447700900123', short_message: 'Hello' }
    expect(await ask(session, 'submit_sm', hello)).toMatchObject({ command_status: 0, message_id: 'm-1' })
    const part = { ...hello, esm_class: 0x40, short_message: { udh: UDH, message: 'part' } }
    expect(await ask(session, 'submit_sm', part)).toMatchObject({ message_id: 'm-2' })
    expect(messageOctets(submits[0]!).toString()).toBe('Hello')
    expect(submits[1]).toMatchObject({ esm_class: 0x40 })
    expect(messageOctets(submits[1]!)).toEqual(Buffer.concat([UDH, Buffer.from('part')]))

    await expect
      .poll(() => answers)
      .toEqual([
        ['receipt', 'deliver_sm_resp', 0],
        ['mo', 'deliver_sm_resp', 0],
      ])
    expect(delivers[0]).toMatchObject({ esm_class: 4, receipted_message_id: 'm-1', message_state: 2 })
    expect(delivers[0]?.short_message).toMatchObject({ message: RECEIPT })
    expect(delivers[1]).toMatchObject({ destination_addr: '12345', short_message: { message: 'Hi' } })

    expect(await ask(session, 'enquire_link')).toMatchObject({
      command: 'enquire_link_resp',
      command_status: 0,
    })
    const closed = new Promise((done) => session.on('close', done))
    expect(await ask(session, 'unbind')).toMatchObject({ command: 'unbind_resp', command_status: 0 })
    await closed
    await expect.poll(() => server.connections.size).toBe(0)
  })
})
