import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { Pdu, PduInput } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { RawPeer } from '../smpp/raw-peer.ts'
import { startService } from '../support/service.ts'

/** What the carrier does with each request, the bind included; nothing when absent. */
type Conduct = (pdu: Pdu, peer: RawPeer, binds: number) => void

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A carrier that writes octets: `conduct` sees every PDU of every connection. */
async function garbageCarrier(conduct: Conduct): Promise<{ port: number; peers: RawPeer[]; heard: Pdu[] }> {
  const peers: RawPeer[] = []
  const heard: Pdu[] = []
  let binds = 0
  const listen = async (peer: RawPeer) => {
    for (;;) {
      const pdu = await peer.next().catch(() => null)
      if (pdu === null) return
      heard.push(pdu)
      if (pdu.command === 'bind_transceiver') binds += 1
      conduct(pdu, peer, binds)
    }
  }
  const server = createServer((socket: Socket) => {
    const peer = new RawPeer(socket)
    peers.push(peer)
    void listen(peer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const { socket } of peers) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, peers, heard }
}

/** As a carrier should: binds, accepts, unbinds. */
function behave(pdu: Pdu, peer: RawPeer): void {
  const { sequence } = pdu
  if (pdu.command === 'bind_transceiver')
    peer.write({ command: 'bind_transceiver_resp', sequence, system_id: 'raw' })
  else if (pdu.command === 'submit_sm')
    peer.write({ command: 'submit_sm_resp', sequence, message_id: `raw-${sequence}` })
  else if (pdu.command === 'enquire_link') peer.write({ command: 'enquire_link_resp', sequence })
  else if (pdu.command === 'unbind') peer.write({ command: 'unbind_resp', sequence })
}

const half = encodePdu({ command: 'deliver_sm', sequence: 5, short_message: Buffer.from('cut') }).subarray(
  0,
  30,
)

/** What becomes of one session after the other. */
const MISHAPS: readonly ((peer: RawPeer, bind: Pdu) => void)[] = [
  (peer, { sequence }) => peer.write(bindResponse(sequence, STATUSES.ESME_RINVPASWD)),
  (peer, { sequence }) => peer.write(bindResponse(sequence, STATUSES.ESME_RTHROTTLED)),
  (peer, { sequence }) => peer.write({ command: 'generic_nack', sequence, status: 3 }),
  (peer) => void peer.socket.end(),
  afterBind((peer) => peer.write(Buffer.alloc(16))),
  afterBind((peer) => peer.write(Buffer.alloc(16, 0xff))),
  afterBind((peer) => peer.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))),
  afterBind((peer) => peer.socket.write(half, () => peer.socket.resetAndDestroy())),
  afterBind((peer) => void peer.socket.end(half)),
  afterBind((peer) => peer.write({ command: 'unbind', sequence: 1 })),
]

function afterBind(mishap: (peer: RawPeer) => void): (peer: RawPeer, bind: Pdu) => void {
  return (peer, bind) => {
    behave(bind, peer)
    mishap(peer)
  }
}

describe('a carrier', () => {
  test('B330 B333 that refuses binds, ends sessions and sends garbage is bound until it behaves; nothing is lost', async () => {
    const carrier = await garbageCarrier((pdu, peer, binds) => {
      const mishap = MISHAPS[binds - 1]
      if (mishap === undefined) behave(pdu, peer)
      else if (pdu.command === 'bind_transceiver') mishap(peer, pdu)
    })
    await using service = await startService({ smscPort: carrier.port, bound: false })
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
    expect(carrier.heard.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(
      MISHAPS.length + 1,
    )
  })

  test('generic_nack to a submit, without a reason: tried again, and sent', async () => {
    let submits = 0
    const carrier = await garbageCarrier((pdu, peer) => {
      if (pdu.command === 'submit_sm') submits += 1
      if (pdu.command === 'submit_sm' && submits === 1)
        peer.write({ command: 'generic_nack', sequence: pdu.sequence })
      else behave(pdu, peer)
    })
    await using service = await startService({ smscPort: carrier.port })
    const msgId = await service.sent()
    await expect.poll(() => submits).toBe(1)
    await expect
      .poll(async () => {
        await service.makeDue()
        return (await service.get(msgId)).body.status
      })
      .toBe('SENT')
    expect(submits).toBe(2)
  })

  test('answers to other commands, twice, and to nothing: each message is SENT once', async () => {
    const carrier = await garbageCarrier((pdu, peer) => {
      if (pdu.command === 'submit_sm') {
        const { sequence } = pdu
        peer.write(
          { command: 'data_sm_resp', sequence, message_id: 'other' },
          { command: 'submit_sm_resp', sequence: sequence + 1_000, message_id: 'nothing' },
          { command: 'submit_sm_resp', sequence, message_id: `raw-${sequence}` },
          { command: 'submit_sm_resp', sequence, status: STATUSES.ESME_RINVDSTADR },
        )
      } else behave(pdu, peer)
    })
    await using service = await startService({ smscPort: carrier.port })
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of ids) {
      await service.until(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
    }
    expect(carrier.heard.filter(({ command }) => command === 'submit_sm')).toHaveLength(20)
    expect(carrier.peers).toHaveLength(1)
  })
})

function bindResponse(sequence: number, status: number): PduInput {
  return { command: 'bind_transceiver_resp', sequence, status }
}
