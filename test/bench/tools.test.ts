import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageForms } from '../../bench/aldis.ts'
import { latenciesOf } from '../../bench/end-to-end.ts'
import { kannelForms } from '../../bench/kannel/kannel.ts'
import { Rig } from '../../bench/rig.ts'
import { type Built, buildTools } from '../../bench/tools/build.ts'
import { formsFile, numberIn, requestsOf } from '../../bench/tools/requests.ts'
import type { Carrier, Load, Receiver } from '../../bench/tools/tools.ts'
import { arrivalFaults, carrierFaults, receiverFaults } from '../../bench/totals.ts'
import { type Connection, connect } from '../../src/smpp/connection.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'

/** The tools of the bench, in C where they can be built and for Node, around a service of a few lines. */

interface Message {
  readonly number: number
  readonly msgId: string
  readonly text: string
  readonly isKannel: boolean
}

/** Accepts requests like Aldis and like Kannel, submits each message, and calls back as each of them does. */
class SmallService {
  /** The requests as they came, by the message's number. */
  readonly requests = new Map<number, string>()
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #byCarrierId = new Map<string, Message>()
  readonly #server = http.createServer((request, response) => this.#accept(request, response))
  #link: Connection<Message> | null = null
  #origin = ''
  /** Webhooks that are not sent: those of this status of this message. */
  omitted: { readonly number: number; readonly status: string } | null = null

  async start(carrierPort: number, origin: string): Promise<number> {
    this.#origin = origin
    this.#link = connect<Message>(
      {
        host: '127.0.0.1',
        port: carrierPort,
        windowSize: 20,
        bind: { command: 'bind_transceiver', system_id: 'aldis', password: 'aldis' },
      },
      {
        onResponse: (message, pdu) => {
          if (pdu.command !== 'submit_sm_resp' || !('message_id' in pdu)) return
          this.#byCarrierId.set(String(pdu.message_id), message)
          this.#announce(message, 'SENT')
        },
        onRequest: (pdu, link) => {
          link.respond(pdu, STATUSES.ESME_ROK)
          const id = pdu.command === 'deliver_sm' ? pdu.tlvs?.receipted_message_id : undefined
          this.#announce(this.#byCarrierId.get(String(id))!, 'DELIVERED')
        },
      },
    )
    await this.#link.whenBound()
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    await this.#link?.unbind()
    this.#agent.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(request: http.IncomingMessage, response: http.ServerResponse): void {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const isKannel = request.method === 'GET'
      const query = new URL(request.url!, 'http://localhost').searchParams
      const text = isKannel ? query.get('text')! : (JSON.parse(body) as { body: string }).body
      const number = numberIn(text)!
      const message = { number, msgId: randomUUID(), text, isKannel }
      this.requests.set(number, isKannel ? request.url! : body)
      response.statusCode = 202
      response.end(
        isKannel ? '0: Accepted for delivery' : JSON.stringify({ msgId: message.msgId, status: 'QUEUED' }),
      )
      const pdu = { registered_delivery: 1, source_addr: 'Aldis', destination_addr: '447900000000' } as const
      this.#link!.send({ command: 'submit_sm', ...pdu, short_message: Buffer.from(text, 'latin1') }, message)
    })
  }

  #announce({ number, msgId, text, isKannel }: Message, status: 'SENT' | 'DELIVERED'): void {
    if (this.omitted?.number === number && this.omitted.status === status) return
    const type = status === 'SENT' ? 8 : 1
    const path = isKannel ? `/dlr?n=${String(number).padStart(8, '0')}&s=${type}` : '/receipts'
    const options = { agent: this.#agent, method: isKannel ? 'GET' : 'POST' }
    const request = http.request(`${this.#origin}${path}`, options, (response) => response.resume())
    request.end(isKannel ? '' : JSON.stringify({ msgId, status, body: text, updatedAt: new Date(0) }))
  }
}

const CUSTOMER = { servicePlanId: 'f'.repeat(24), token: 'secret', sender: 'Aldis' }
const NODE: Built = { without: 'the test says so' }

let buildRig: Rig
let built: Built

beforeAll(async () => {
  buildRig = new Rig(null)
  built = await buildTools(buildRig.folder)
})

afterAll(() => buildRig.close())

/** With C twice, where there is a compiler; without one, Node's tools run twice. */
describe.each([
  ['as they are built here', () => built],
  ['for Node', () => NODE],
])('the tools %s', (_, chosen) => {
  let rig: Rig
  let service: SmallService
  let parts: { load: Load; carrier: Carrier; receiver: Receiver }

  async function start(kind: 'aldis' | 'kannel', receiptDelayMs: readonly [number, number]): Promise<void> {
    rig = new Rig(null)
    const tools = await rig.tools(chosen())
    let load: Load | null = null
    const receiver = await tools.receiver({ tls: null }, { onNews: (total) => load?.completed(total) })
    const carrier = await tools.carrier({
      receiptDelayMs,
      deliverWindow: 10,
      receiptsOutstanding: 0,
      throughput: null,
    })
    service = new SmallService()
    const port = await service.start(carrier.port, receiver.origin)
    const forms =
      kind === 'aldis' ? messageForms(port, CUSTOMER, receiver.origin) : kannelForms(port, receiver.origin)
    load = await tools.load({ port, connections: 4, forms })
    parts = { load, carrier, receiver }
    const request = requestsOf(formsFile(forms))
    requestText = (n) => request(n)
  }
  let requestText: (n: number) => string

  async function completed(count: number): Promise<void> {
    await expect.poll(async () => (await parts.receiver.report()).completed).toBeGreaterThanOrEqual(count)
  }

  async function stop(): Promise<void> {
    await parts.load.stop()
    await service.stop()
    await rig.close()
  }

  it.each(['aldis', 'kannel'] as const)(
    'count every message of %s, and join it in three ledgers',
    async (kind) => {
      await start(kind, [1, 5])
      await parts.load.start(20)
      await completed(200)
      await parts.load.stopSending()
      const { accepted, sent } = await parts.load.report()
      expect(sent).toBe(accepted)
      await completed(accepted)
      const ledgers = {
        load: await parts.load.ledger(),
        receiver: await parts.receiver.ledger(),
        carrier: await parts.carrier.ledger(),
      }
      expect(ledgers.load).toHaveLength(accepted)
      expect(arrivalFaults(ledgers.load, ledgers.receiver)).toEqual([])
      expect(receiverFaults(await parts.receiver.report(), false)).toEqual([])
      await expect
        .poll(async () => carrierFaults(ledgers.load, ledgers.carrier, await parts.carrier.stats()))
        .toEqual([])
      expect(latenciesOf(ledgers, { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }).accept.count).toBe(accepted)
      for (const { number } of ledgers.load)
        expect(requestText(number)).toContain(service.requests.get(number)!)
      expect(new Set(service.requests.values()).size).toBe(accepted)
      await stop()
    },
  )

  it('send at the rate that is asked for, and no more after that', async () => {
    await start('aldis', [0, 0])
    await parts.load.pace(500)
    await completed(50)
    await parts.load.stopSending()
    const { sent } = await parts.load.report()
    await completed(sent)
    const ledger = await parts.load.ledger()
    const gaps = ledger.slice(1).map(({ dueUs }, index) => dueUs - ledger[index]!.dueUs)
    expect(new Set(gaps.map((gap) => Math.round(gap / 10)))).toEqual(new Set([200]))
    expect((await parts.load.report()).sent).toBe(sent)
    await stop()
  })

  it('name a webhook that does not come', async () => {
    await start('aldis', [0, 0])
    service.omitted = { number: 7, status: 'DELIVERED' }
    await parts.load.start(20)
    await completed(20)
    await parts.load.stopSending()
    const { sent } = await parts.load.report()
    await completed(sent - 1)
    await expect.poll(async () => (await parts.receiver.report()).webhooks).toBe(2 * sent - 1)
    const faults = arrivalFaults(await parts.load.ledger(), await parts.receiver.ledger())
    expect(faults).toEqual(['1 accepted messages lack a webhook'])
    await stop()
  })
})
