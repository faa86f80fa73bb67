import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Carrier, Directory } from '../../src/domain/directory.ts'
import type { LinkTimings } from '../../src/services/carrier-link.ts'
import { CarrierLinks } from '../../src/services/carrier-links.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { aCarrier, aDirectory } from '../support/directory.ts'
import { eventually } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const BACKOFF_MS = 20

let smsc: Smsc
let links: CarrierLinks<string>
let lost: string[]
let answered: string[]

beforeEach(async () => {
  smsc = await startSmsc()
  lost = []
  answered = []
})

afterEach(async () => {
  await links.stop()
  await smsc[Symbol.asyncDispose]()
})

function carrierLinks(timings: LinkTimings = {}): CarrierLinks<string> {
  links = new CarrierLinks<string>({
    events: {
      onReady: () => undefined,
      onResponse: (token, pdu) => void answered.push(`${token} ${pdu.status}`),
      onTimeout: () => undefined,
      onLateResponse: () => undefined,
      onLost: (tokens) => void lost.push(...tokens),
      onRequest: (pdu, connection) => void connection.respond(pdu, STATUSES.ESME_ROK),
    },
    timings: { backoffMs: BACKOFF_MS, unbindTimeoutMs: 100, ...timings },
    log: () => undefined,
  })
  return links
}

function carrier(changes: Partial<Carrier> = {}): Carrier {
  return aCarrier({ port: smsc.port, systemType: 'vma', window: 5, ...changes })
}

function directory(...carriers: Carrier[]): Directory {
  return aDirectory({ carriers })
}

const lastClose = (id = 1) => links.status(id)[0]?.lastClose

/** Pauses between binds, at least: they double from BACKOFF_MS, less 20 %. */
function expectBackoff(): void {
  const gaps = smsc.bindTimesMs.slice(1).map((atMs, index) => atMs - smsc.bindTimesMs[index]!)
  for (const [index, gapMs] of gaps.entries()) {
    expect(gapMs).toBeGreaterThanOrEqual(0.8 * BACKOFF_MS * 2 ** index - 2)
  }
}

describe('binding', () => {
  test('with the carrier\u2019s settings; then it can submit, as far as the window goes', async () => {
    carrierLinks().follow(directory(carrier()))
    expect(links.canSubmit(1)).toBe(false)
    await eventually(() => links.canSubmit(1))
    expect(smsc.binds).toMatchObject([
      { command: 'bind_transceiver', system_id: 'aldis', password: 'secret', system_type: 'vma' },
    ])
    expect(links.freest(1)?.windowFree).toBe(5)
    expect(links.summary(1)).toEqual({ state: 'BOUND_TRX', since: expect.any(String), lastError: null })
    expect(links.canSubmit(2)).toBe(false)
    expect(links.freest(2)).toBeNull()
    expect(links.summary(2)).toBeNull()
  })

  test('B390 bind_resp never arrives: closed, and tried again with a growing pause', async () => {
    smsc.answerBinds(() => null)
    carrierLinks({ bindTimeoutMs: 30 }).follow(directory(carrier()))
    await eventually(() => smsc.binds.length === 4)
    expect(lastClose()).toBe('bind_timeout')
    expectBackoff()
    smsc.answerBinds(() => STATUSES.ESME_ROK)
    await eventually(() => links.canSubmit(1))
  })

  test('rejected, then accepted; what the carrier said is shown', async () => {
    smsc.answerBinds(() => STATUSES.ESME_RINVPASWD)
    carrierLinks().follow(directory(carrier()))
    await eventually(() => smsc.binds.length === 3)
    await eventually(() => links.summary(1)?.lastError === 'bind_rejected')
    expectBackoff()
    smsc.answerBinds(() => STATUSES.ESME_ROK)
    await eventually(() => links.canSubmit(1))
  })

  test('nobody listens: tried again until somebody does', async () => {
    const { port } = smsc
    await smsc[Symbol.asyncDispose]()
    carrierLinks().follow(directory(carrier({ port })))
    await eventually(() => lastClose() === 'connect_failed')
    smsc = await startSmsc(port)
    await eventually(() => links.canSubmit(1))
  })

  test('settings that fit no bind PDU: down until they are changed', async () => {
    carrierLinks().follow(directory(carrier({ password: 'far too long a password' })))
    await eventually(() => lastClose() === 'connect_failed')
    links.follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
  })
})

describe('a session that ends', () => {
  test('B386 enquire_link never answered: closed, what was under way is handed back, bound again', async () => {
    const binds: net.Socket[] = []
    // Answers each bind and nothing else.
    const mute = net.createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (bind: Buffer) => {
        const answer = Buffer.from('00000011800000090000000000000000' + '00', 'hex')
        bind.copy(answer, 12, 12, 16)
        socket.write(answer)
        binds.push(socket)
      })
    })
    await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening))
    const { port } = mute.address() as AddressInfo
    carrierLinks({ enquireLinkIntervalMs: 100, enquireLinkTimeoutMs: 50 }).follow(
      directory(carrier({ port })),
    )
    await eventually(() => links.canSubmit(1))
    links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, 'under way')
    await eventually(() => binds.length === 2)
    expect(lastClose()).toBe('enquire_link_timeout')
    expect(lost).toEqual(['under way'])
    await links.stop()
    for (const socket of binds) socket.destroy()
    await new Promise((closed) => mute.close(closed))
  })

  test('B388 by the carrier\u2019s unbind: what had no answer is handed back, bound again', async () => {
    carrierLinks().follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
    smsc.answerSubmits((pdu, link, index) => {
      if (index === 0) link.respond(pdu, STATUSES.ESME_ROK, { message_id: 'a' })
    })
    for (const token of ['answered', 'open']) {
      links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, token)
    }
    await eventually(() => smsc.submits.length === 2)
    expect(links.unanswered).toBeGreaterThan(0)
    await (await smsc.bound()).unbind()
    await eventually(() => smsc.binds.length === 2 && links.canSubmit(1))
    expect([answered, lost]).toEqual([['answered 0'], ['open']])
    expect(lastClose()).toBe('peer_unbound')
  })

  test('dropped: bound again', async () => {
    carrierLinks().follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
    ;(await smsc.bound()).destroy()
    await eventually(() => smsc.binds.length === 2 && links.canSubmit(1))
  })
})

describe('following the directory', () => {
  test('a change elsewhere leaves a link alone; a change of its own makes it anew', async () => {
    carrierLinks().follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
    links.follow(directory(carrier(), carrier({ id: 2, name: 'second', systemId: 'other' })))
    await eventually(() => links.canSubmit(2))
    expect(smsc.binds.map(({ system_id }) => system_id)).toEqual(['aldis', 'other'])
    links.follow(directory(carrier({ window: 9 }), carrier({ id: 2, name: 'second', systemId: 'other' })))
    await eventually(() => links.freest(1)?.windowFree === 9)
    expect(smsc.binds).toHaveLength(3)
  })

  test('a carrier that is disabled or gone is unbound', async () => {
    carrierLinks().follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
    links.follow(directory(carrier({ state: 'stopped' })))
    expect(links.canSubmit(1)).toBe(false)
    links.follow(directory())
    expect(links.status(1)).toEqual([])
  })

  test('transmitter+receiver: only the transmitter submits', async () => {
    carrierLinks().follow(directory(carrier({ bindMode: 'transmitter+receiver' })))
    await eventually(() => links.status(1).every(({ boundSince }) => boundSince !== null))
    expect(links.status(1).map(({ bind, state }) => [bind, state])).toEqual([
      ['bind_transmitter', 'BOUND_TX'],
      ['bind_receiver', 'BOUND_RX'],
    ])
    expect(links.freest(1)?.bind).toBe('bind_transmitter')
    expect(await smsc.deliver({ short_message: Buffer.from('mo') })).toBe(STATUSES.ESME_ROK)
  })

  test('a receiver alone submits nothing', async () => {
    carrierLinks().follow(directory(carrier({ bindMode: 'receiver' })))
    await eventually(() => links.status(1)[0]?.state === 'BOUND_RX')
    expect(links.canSubmit(1)).toBe(false)
    expect(links.freest(1)).toBeNull()
  })

  test('once stopped it stays down', async () => {
    carrierLinks().follow(directory(carrier()))
    await eventually(() => links.canSubmit(1))
    await links.stop()
    links.follow(directory(carrier()))
    expect(links.status(1)).toEqual([])
    expect(smsc.binds).toHaveLength(1)
  })
})
