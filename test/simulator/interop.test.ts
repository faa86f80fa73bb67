import smpp, { type NodePdu, type NodeSession } from 'smpp'
import { afterEach, expect, test } from 'vitest'
import { parseReceipt } from '../../src/domain/carriers/receipts.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { injectInbound } from '../support/handset.ts'
import { cleanUp, later, simulated, until } from './simulator-harness.ts'

/** The npm package `smpp` as the ESME: it shares no code with ours. */

afterEach(cleanUp)

type Command =
  | 'bind_transceiver'
  | 'bind_transmitter'
  | 'bind_receiver'
  | 'submit_sm'
  | 'data_sm'
  | 'enquire_link'
  | 'unbind'

const ask = (session: NodeSession, command: Command, fields = {}) =>
  new Promise<NodePdu>((answered) => session[command](fields, answered))

interface NodeEsme {
  readonly session: NodeSession
  readonly delivered: NodePdu[]
}

async function nodeEsme(simulator: Simulator): Promise<NodeEsme> {
  const session = smpp.connect({ host: '127.0.0.1', port: simulator.port })
  session.on('error', () => undefined)
  later(() => session.destroy())
  const delivered: NodePdu[] = []
  session.on('deliver_sm', (pdu: NodePdu) => {
    delivered.push(pdu)
    session.send(pdu.response())
  })
  session.on('unbind', (pdu: NodePdu) => session.send(pdu.response()))
  await new Promise((connected) => session.on('connect', connected))
  return { session, delivered }
}

const BIND = { system_id: 'node', password: 'pw' }
const SUBMIT = {
  source_addr: '12345',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '15551230000',
  registered_delivery: 1,
  short_message: 'hello',
}

/** What the package makes of short_message: text, and the user data header beside it. */
const messageOf = (pdu: NodePdu) => pdu.short_message as { message: string; udh?: Buffer[] }

test.each(['bind_transceiver', 'bind_transmitter', 'bind_receiver'] as const)(
  '%s, enquire_link, unbind',
  async (command) => {
    const simulator = await simulated()
    const { session } = await nodeEsme(simulator)
    expect(await ask(session, command, BIND)).toMatchObject({
      command: `${command}_resp`,
      command_status: 0,
      system_id: 'ALDIS-SIM',
      sc_interface_version: 0x34,
    })
    expect((await ask(session, 'enquire_link')).command).toBe('enquire_link_resp')
    expect((await ask(session, 'unbind')).command).toBe('unbind_resp')
    await until(() => simulator.stats.binds === 0)
  },
)

test('a wrong password', async () => {
  const { session } = await nodeEsme(
    await simulated({ credentials: [{ systemId: 'node', password: 'secret' }] }),
  )
  expect((await ask(session, 'bind_transceiver', BIND)).command_status).toBe(STATUSES.ESME_RINVPASWD)
  expect((await ask(session, 'bind_transceiver', { ...BIND, system_id: 'x' })).command_status).toBe(
    STATUSES.ESME_RINVSYSID,
  )
})

test('submit and receipt', async () => {
  const { session, delivered } = await nodeEsme(await simulated())
  await ask(session, 'bind_transceiver', BIND)
  const { command_status, message_id } = await ask(session, 'submit_sm', SUBMIT)
  expect(command_status).toBe(0)
  await until(() => delivered.length === 1)
  const [receipt] = delivered
  expect(receipt).toMatchObject({
    esm_class: 4,
    source_addr: '15551230000',
    destination_addr: '12345',
    receipted_message_id: message_id,
    message_state: 2,
  })
  expect(parseReceipt(messageOf(receipt!).message)).toMatchObject({
    carrierMessageId: message_id,
    state: 'DELIVRD',
    mccmnc: '310260',
  })
})

test('a refused submit and a failed one', async () => {
  const { session, delivered } = await nodeEsme(await simulated())
  await ask(session, 'bind_transceiver', BIND)
  const refused = await ask(session, 'submit_sm', { ...SUBMIT, destination_addr: '15551231006' })
  expect(refused.command_status).toBe(STATUSES.ESME_RINVDSTADR)
  await ask(session, 'submit_sm', { ...SUBMIT, destination_addr: '15551231001' })
  await until(() => delivered.length === 1)
  expect(delivered[0]).toMatchObject({ message_state: 5, network_error_code: Buffer.from([3, 0, 27]) })
})

test('MO messages, single and concatenated', async () => {
  const simulator = await simulated()
  const { session, delivered } = await nodeEsme(simulator)
  await ask(session, 'bind_receiver', BIND)
  const injection = { host: '127.0.0.1', port: simulator.port, from: '+15551230002', to: '12345' }
  await injectInbound({ ...injection, body: 'Grüße' })
  const long = `${'x'.repeat(153) + 'y'.repeat(153)}z`
  await injectInbound({ ...injection, body: long })
  await simulator.sendInbound({ ...injection, body: '漢字' })
  await until(() => delivered.length === 5)
  expect(delivered.map((pdu) => messageOf(pdu).message).join('|')).toBe(
    `Grüße|${'x'.repeat(153)}|${'y'.repeat(153)}|z|漢字`,
  )
  const udh = delivered.slice(1, 4).map((pdu) => messageOf(pdu).udh?.[0])
  expect(udh.map((element) => [...element!.subarray(3)])).toEqual([
    [3, 1],
    [3, 2],
    [3, 3],
  ])
})

test('long submits in segments, each with its own receipt', async () => {
  const simulator = await simulated({ recordSubmissions: true })
  const { session, delivered } = await nodeEsme(simulator)
  await ask(session, 'bind_transceiver', BIND)
  for (const sequence of [1, 2]) {
    const udh = Buffer.from([5, 0, 3, 0x2a, 2, sequence])
    await ask(session, 'submit_sm', { ...SUBMIT, short_message: { udh, message: `part ${sequence}` } })
  }
  await until(() => delivered.length === 2)
  expect(new Set(delivered.map((pdu) => pdu.receipted_message_id)).size).toBe(2)
  expect(messageOf(delivered[0]!).message).toMatch(/ text:part \d$/)
})

test('a simulator that stops unbinds', async () => {
  const simulator = await simulated()
  const { session } = await nodeEsme(simulator)
  await ask(session, 'bind_transceiver', BIND)
  const unbound = new Promise((done) => session.on('unbind', done))
  await Promise.all([simulator.stop(), unbound])
})
