import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { messageForms } from '../../bench/aldis/aldis.ts'
import { latenciesOf } from '../../bench/end-to-end.ts'
import { kannelForms } from '../../bench/kannel/kannel.ts'
import { Rig } from '../../bench/rig.ts'
import { type Built, buildTools } from '../../bench/tools/build.ts'
import { formsFile, numberIn, requestsOf } from '../../bench/tools/requests.ts'
import type { Carrier, Load, Receiver } from '../../bench/tools/tools.ts'
import { arrivalFaults, carrierFaults, receiverFaults } from '../../bench/totals.ts'
import { type Connection, connect } from '../../src/smpp/connection.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'

/** The tools of the bench, in C where they can be built and for Node, around a service of a few lines. The short form, totals.test.ts, judges what they count. */

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
        // More than the load ever has in flight: what does not fit is not sent.
        windowSize: 1_000,
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

describe.each([
  ['as they are built here', () => built],
  ['for Node', () => NODE],
])('the tools %s', (_, chosen) => {
  let rig: Rig
  let service: SmallService
  let parts: { load: Load; carrier: Carrier; receiver: Receiver }
  let requestText: (n: number) => string

  /** Half of the requests are those of Aldis, half those of Kannel. */
  beforeEach(async () => {
    rig = new Rig(null)
    const tools = await rig.tools(chosen())
    let load: Load | null = null
    const receiver = await tools.receiver({ tls: null }, { onNews: (total) => load?.completed(total) })
    const carrier = await tools.carrier({
      receiptDelayMs: [1, 5],
      deliverWindow: 10,
      receiptsOutstanding: 0,
      throughput: null,
    })
    service = new SmallService()
    const port = await service.start(carrier.port, receiver.origin)
    const forms = [...messageForms(port, CUSTOMER, receiver.origin), ...kannelForms(port, receiver.origin)]
    load = await tools.load({ ports: [port], connections: 4, forms })
    parts = { load, carrier, receiver }
    requestText = requestsOf(formsFile(forms))
  })

  afterEach(async () => {
    await parts.load.stop()
    await service.stop()
    await rig.close()
  })

  async function completed(count: number): Promise<void> {
    await expect.poll(async () => (await parts.receiver.report()).completed).toBeGreaterThanOrEqual(count)
  }

  it('count every message, and join it in three ledgers', async () => {
    const { load, receiver, carrier } = parts
    await load.start(20)
    await completed(200)
    await load.stopSending()
    const { accepted, sent } = await load.report()
    expect(sent).toBe(accepted)
    await completed(accepted)
    const answered = async () => (await carrier.stats()).receiptsAcknowledged
    await expect.poll(answered).toBe(accepted)
    const ledgers = {
      load: await load.ledger(),
      receiver: await receiver.ledger(),
      carrier: await carrier.ledger(),
    }
    expect(ledgers.load).toHaveLength(accepted)
    expect(arrivalFaults(ledgers.load, ledgers.receiver)).toEqual([])
    expect(receiverFaults(await receiver.report(), false)).toEqual([])
    expect(carrierFaults(ledgers.load, ledgers.carrier, await carrier.stats())).toEqual([])
    const always = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }
    expect(latenciesOf(ledgers, always).acceptToDelivered.count).toBe(accepted)
    for (const { number } of ledgers.load)
      expect(requestText(number)).toContain(service.requests.get(number)!)
    expect(new Set(service.requests.values()).size).toBe(accepted)
  })

  it('send at the rate that is asked for, and name the webhook that did not come', async () => {
    const { load, receiver } = parts
    service.omitted = { number: 7, status: 'DELIVERED' }
    await load.pace(500)
    await completed(50)
    await load.stopSending()
    const { sent } = await load.report()
    const webhooks = async () => (await receiver.report()).webhooks
    await expect.poll(webhooks).toBe(2 * sent - 1)
    const ledger = await load.ledger()
    const gapsUs = ledger.slice(1).map(({ dueUs }, index) => dueUs - ledger[index]!.dueUs)
    expect(gapsUs.filter((gapUs) => Math.abs(gapUs - 2_000) > 1)).toEqual([])
    expect(ledger).toHaveLength(sent)
    expect(arrivalFaults(ledger, await receiver.ledger())).toEqual(['1 accepted messages lack a webhook'])
  })
})
