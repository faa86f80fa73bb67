import type { AddressInfo, Server } from 'node:net'
import smpp, { type NodePdu, type NodeSession } from 'smpp'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, type Service } from '../support/service.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

/** The npm package `smpp` as the carrier of the whole service. */

const { tenant } = serviceOfFile()
let server: Server
let service: Service
let sessions: NodeSession[]
let submits: NodePdu[]
/** Answers a submit. */
let answer: (session: NodeSession, pdu: NodePdu, index: number) => void

beforeEach(async () => {
  sessions = []
  submits = []
  answer = (session, pdu, index) => void session.send(pdu.response({ message_id: `npm-${index}` }))
  server = smpp.createServer(serve)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  service = await tenant({ smscPort: (server.address() as AddressInfo).port })
})

afterEach(async () => {
  await service[Symbol.asyncDispose]()
  await new Promise((closed) => server.close(closed))
})

function serve(session: NodeSession): void {
  session.on('error', () => undefined)
  session.on('bind_transceiver', (pdu: NodePdu) => {
    session.send(pdu.response({ system_id: 'npm' }))
    sessions.push(session)
  })
  session.on('submit_sm', (pdu: NodePdu) => {
    submits.push(pdu)
    answer(session, pdu, submits.length - 1)
  })
  session.on('unbind', (pdu: NodePdu) => {
    session.send(pdu.response())
    session.close()
  })
  session.on('enquire_link', (pdu: NodePdu) => session.send(pdu.response()))
}

/** Sends a deliver_sm over the newest session and gives the status of its answer. */
function deliver(fields: Record<string, unknown>): Promise<number> {
  return new Promise((answered) => sessions.at(-1)!.deliver_sm(fields, (pdu) => answered(pdu.command_status)))
}

function receipt(id: string, state = 'DELIVRD'): Promise<number> {
  const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010001 stat:${state} err:000 text:`
  return deliver({ esm_class: 4, source_addr: '15551230000', destination_addr: 'Aldis', short_message: text })
}

describe('the npm package smpp as carrier', () => {
  test('bind_transceiver, submit, receipt: SENT, DELIVERED, both webhooks', async () => {
    const msgId = await service.sent({ body: 'Grüße {npm}' })
    await service.until(msgId, 'SENT')
    expect(submits[0]).toMatchObject({
      source_addr: 'Aldis',
      source_addr_ton: 5,
      destination_addr: '15551230000',
      dest_addr_ton: 1,
      validity_period: expect.anything(),
      registered_delivery: 1,
      data_coding: 0,
      short_message: { message: 'Grüße {npm}' },
    })
    expect(await receipt('npm-0')).toBe(0)
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('a concatenated message in GSM and in UCS-2', async () => {
    for (const [body, parts] of [
      ['long '.repeat(50), 2],
      ['Длинный текст '.repeat(10), 3],
    ] as const) {
      submits.length = 0
      const msgId = await service.sent({ body })
      await service.until(msgId, 'SENT')
      const contents = submits.map(({ short_message }) => short_message as { udh: Buffer[]; message: string })
      expect(contents).toHaveLength(parts)
      expect(contents.map(({ message }) => message).join('')).toBe(body)
      expect(contents.map(({ udh }) => udh[0]?.at(-1))).toEqual(
        Array.from({ length: parts }, (_, at) => at + 1),
      )
      for (const index of submits.keys()) expect(await receipt(`npm-${index}`)).toBe(0)
      await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    }
  })

  test('receipts with TLVs', async () => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    const fields = { esm_class: 4, receipted_message_id: 'npm-0', message_state: 5, short_message: '' }
    expect(await deliver(fields)).toBe(0)
    await service.until(msgId, 'FAILED')
  })

  test('MO, single and in parts', async () => {
    const address = {
      source_addr: '15550002222',
      source_addr_ton: 1,
      destination_addr: service.inboundNumber.slice(1),
    }
    expect(await deliver({ ...address, short_message: 'hello from npm' })).toBe(0)
    const parts = ['first half, ', 'second half']
    for (const [index, message] of parts.entries()) {
      const udh = Buffer.from([5, 0, 3, 0x42, parts.length, index + 1])
      expect(await deliver({ ...address, esm_class: 0x40, short_message: { udh, message } })).toBe(0)
    }
    await eventually(() => service.receiver.received.length === 2)
    expect(service.receiver.received.map(({ body }) => JSON.parse(body).body)).toEqual([
      'hello from npm',
      'first half, second half',
    ])
  })

  test('unbind of the carrier: bound again, and messages flow', async () => {
    const unbound = new Promise((done) => sessions[0]!.unbind({}, done))
    await unbound
    sessions[0]!.close()
    await eventually(() => sessions.length === 2)
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
  })

  test('the socket dropped with a submit unanswered: sent again over the next bind', async () => {
    answer = (session) => session.destroy()
    const msgId = await service.sent()
    await eventually(() => submits.length === 1)
    answer = (session, pdu, index) => void session.send(pdu.response({ message_id: `npm-${index}` }))
    await service.until(msgId, 'SENT')
    expect(submits).toHaveLength(2)
  })

  test('a node that stops unbinds', async () => {
    const unbound = new Promise((done) => sessions[0]!.on('unbind', done))
    await service.restart()
    await unbound
  })
})
