import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Carrier } from '../../../src/domain/configuration/configuration.ts'
import type { Directory } from '../../../src/domain/configuration/directory.ts'
import type { LinkListeners, LinkTimings, SubmitEvents } from '../../../src/services/links/carrier-link.ts'
import { CarrierLinks } from '../../../src/services/links/carrier-links.ts'
import { STATUSES } from '../../../src/smpp/statuses.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { KeptLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

const BACKOFF_MS = 20
const holdsAll = () => true

let smsc: Smsc
let links: CarrierLinks<string>
let lost: string[]
let answered: string[]
let log: KeptLog

beforeEach(async () => {
  smsc = await startSmsc()
  lost = []
  answered = []
  log = new KeptLog()
})

afterEach(async () => {
  await links.stop()
  await smsc[Symbol.asyncDispose]()
})

function carrierLinks(
  timings: LinkTimings = {},
  {
    onRequest = (pdu, connection) => void connection.respond(pdu, STATUSES.ESME_ROK),
    ...events
  }: Partial<SubmitEvents<string> & LinkListeners<string>['receiver']> = {},
): CarrierLinks<string> {
  links = new CarrierLinks<string>({
    timings: { backoffMs: BACKOFF_MS, unbindTimeoutMs: 100, ...timings },
    log,
  })
  links.heardBy({
    submitter: {
      onReady: () => undefined,
      onResponse: (token, pdu) => void answered.push(`${token} ${pdu.status}`),
      onTimeout: () => undefined,
      onLateResponse: () => undefined,
      onLost: (tokens) => void lost.push(...tokens),
      ...events,
    },
    receiver: { onRequest },
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
    carrierLinks().adopt(directory(carrier()), holdsAll)
    expect(links.canSubmit(1)).toBe(false)
    await eventually(() => links.canSubmit(1))
    expect(smsc.binds).toMatchObject([
      { command: 'bind_transceiver', system_id: 'aldis', password: 'secret', system_type: 'vma' },
    ])
    expect(links.freest(1)?.windowFree).toBe(5)
    const boundSince = links.status(1)[0]!.boundSince!
    const seen = { state: 'BOUND_TRX', lastClose: null, unanswered: 0 }
    expect(links.summary(1)).toEqual({
      state: 'BOUND_TRX',
      since: boundSince,
      lastError: null,
      unanswered: 0,
      links: [{ number: 0, bind: 'bind_transceiver', boundSince, ...seen }],
    })
    expect([...links.reports()]).toEqual([[1, [expect.objectContaining({ number: 0, state: 'bound' })]]])
    expect(links.canSubmit(2)).toBe(false)
    expect(links.freest(2)).toBeNull()
    expect(links.summary(2)).toBeNull()
  })

  test('B390 bind_resp never arrives: closed, and tried again with a growing pause', async () => {
    smsc.answerBinds(() => null)
    carrierLinks({ bindTimeoutMs: 30 }).adopt(directory(carrier()), holdsAll)
    await eventually(() => smsc.binds.length === 4)
    expect(lastClose()).toBe('bind_timeout')
    expectBackoff()
    smsc.answerBinds(() => STATUSES.ESME_ROK)
    await eventually(() => links.canSubmit(1))
  })

  test('rejected, then accepted; what the carrier said is shown, and logged once', async () => {
    smsc.answerBinds(() => STATUSES.ESME_RINVPASWD)
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => smsc.binds.length === 3)
    await eventually(() => links.summary(1)?.lastError === 'bind_rejected: ESME_RINVPASWD')
    const details = { carrier: 'main', command: 'bind_transceiver', status: 'ESME_RINVPASWD' }
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'the carrier refused the bind', ...details }])
    expectBackoff()
    smsc.answerBinds(() => STATUSES.ESME_ROK)
    await eventually(() => links.canSubmit(1))
  })

  test('accepted and dropped at once, again and again: with a growing pause', async () => {
    carrierLinks({}, { onReady: async () => (await smsc.bound()).destroy() }).adopt(
      directory(carrier()),
      holdsAll,
    )
    await eventually(() => smsc.binds.length === 4)
    expectBackoff()
  })

  test('nobody listens: tried again until somebody does', async () => {
    const { port } = smsc
    await smsc[Symbol.asyncDispose]()
    carrierLinks().adopt(directory(carrier({ port })), holdsAll)
    await eventually(() => lastClose()?.startsWith('connect_failed: connect ECONNREFUSED'))
    smsc = await startSmsc(port)
    await eventually(() => links.canSubmit(1))
  })

  test('a password of 64 octets is sent whole, with a warning', async () => {
    carrierLinks().adopt(directory(carrier({ password: 'x'.repeat(64) })), holdsAll)
    await eventually(() => links.canSubmit(1))
    expect(smsc.binds).toMatchObject([{ password: 'x'.repeat(64) }])
    const message = 'the password of the carrier is longer than SMPP 3.4 allows'
    expect(log.lines).toContainEqual({ level: 'warn', message, carrier: 'main' })
  })

  test('settings that fit no bind PDU: down until they are changed', async () => {
    carrierLinks().adopt(directory(carrier({ password: 'x'.repeat(65) })), holdsAll)
    await eventually(() => lastClose()?.startsWith('connect_failed: password: '))
    links.adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
  })
})

describe('a session that ends', () => {
  test('B388 by the carrier\u2019s unbind: what had no answer is handed back, bound again', async () => {
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    smsc.answerSubmits((pdu, link, index) => {
      if (index === 0) link.respond(pdu, STATUSES.ESME_ROK, { message_id: 'a' })
    })
    for (const token of ['answered', 'open']) {
      links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, token)
    }
    await eventually(() => smsc.submits.length === 2)
    expect(links.inFlight(1)).toBeGreaterThan(0)
    await (await smsc.bound()).unbind()
    await eventually(() => smsc.binds.length === 2 && links.canSubmit(1))
    expect([answered, lost]).toEqual([['answered 0'], ['open']])
    expect(lastClose()).toBe('peer_unbound')
  })

  test('dropped: bound again', async () => {
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    ;(await smsc.bound()).destroy()
    await eventually(() => smsc.binds.length === 2 && links.canSubmit(1))
  })
})

describe('following the directory', () => {
  test('a change elsewhere leaves a link alone', async () => {
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    links.adopt(directory(carrier(), carrier({ id: 2, name: 'second', systemId: 'other' })), holdsAll)
    await eventually(() => links.canSubmit(2))
    expect(smsc.binds.map(({ system_id }) => system_id)).toEqual(['aldis', 'other'])
  })

  test.each<[string, Partial<Carrier>]>([
    ['systemId', { systemId: 'other' }],
    ['password', { password: 'other' }],
    ['systemType', { systemType: 'other' }],
    ['window', { window: 9 }],
    ['bindMode', { bindMode: 'transmitter' }],
  ])('a change of its %s makes the session anew, once the former one is over', async (_, change) => {
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    links.adopt(directory(carrier(change)), holdsAll)
    expect(links.canSubmit(1)).toBe(false)
    await eventually(() => links.canSubmit(1))
    expect(smsc.binds).toHaveLength(2)
    expect(smsc.mostBound).toBe(1)
    expect(links.freest(1)!.carrier).toMatchObject(change)
  })

  test.each<[string, Partial<Carrier>]>([
    ['name', { name: 'renamed' }],
    ['rates', { messagesPerSecond: 7, senderMessagesPerSecond: 3 }],
    ['idRule', { idRule: 'auto', learnedIdRule: 'decimal-hex' }],
    ['longMessages', { longMessages: 'payload' }],
    ['submitOutcomes', { submitOutcomes: new Map([[0x45, 'retry']]) }],
  ])('a change of its %s reaches the link at once; the session goes on', async (_, change) => {
    const seen: Carrier[] = []
    const onRequest: LinkListeners<string>['receiver']['onRequest'] = (pdu, connection, by) => {
      seen.push(by)
      connection.respond(pdu, STATUSES.ESME_ROK)
    }
    carrierLinks({}, { onRequest }).adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    const link = links.freest(1)!
    links.adopt(directory(carrier(change)), holdsAll)
    expect(links.freest(1)).toBe(link)
    expect(link.carrier).toMatchObject(change)
    await smsc.deliver({ short_message: Buffer.from('mo') })
    expect(seen).toMatchObject([change])
    expect(smsc.binds).toHaveLength(1)
  })

  test('draining: stays bound and receives, submits nothing; started again it goes on at once', async () => {
    let ready = 0
    const onReady = () => {
      ready += 1
    }
    carrierLinks({}, { onReady }).adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    links.adopt(directory(carrier({ state: 'draining' })), holdsAll)
    expect(links.canSubmit(1)).toBe(false)
    expect(links.freest(1)).toBeNull()
    expect(links.summary(1)?.state).toBe('BOUND_TRX')
    expect(await smsc.deliver({ short_message: Buffer.from('mo') })).toBe(STATUSES.ESME_ROK)
    expect(ready).toBe(1)
    links.adopt(directory(carrier()), holdsAll)
    expect(links.canSubmit(1)).toBe(true)
    expect(ready).toBe(2)
    expect(smsc.binds).toHaveLength(1)
  })

  test('a carrier that is stopped or gone is unbound, with the answers of what was under way', async () => {
    carrierLinks({ unbindTimeoutMs: 5_000 }).adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link) =>
      answers.push(() => link.respond(pdu, STATUSES.ESME_ROK, { message_id: 'a' })),
    )
    links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, 'under way')
    await eventually(() => answers.length === 1)
    links.adopt(directory(carrier({ state: 'stopped' })), holdsAll)
    expect(links.canSubmit(1)).toBe(false)
    expect(links.summary(1)).toBeNull()
    answers[0]!()
    await links.whenUnbound(1, 0)
    expect([answered, lost]).toEqual([['under way 0'], []])
    expect(smsc.bindsNow).toBe(0)
    links.adopt(directory(), holdsAll)
    expect(links.status(1)).toEqual([])
  })

  test('one that is stopped gets the time to answer, however short that of an unbind is', async () => {
    carrierLinks({ unbindTimeoutMs: 1, bindTimeoutMs: 600 }).adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link) =>
      answers.push(() => link.respond(pdu, STATUSES.ESME_ROK, { message_id: 'a' })),
    )
    links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, 'under way')
    await eventually(() => answers.length === 1)
    // The other carrier is there to tell that some ticks of the sessions have passed.
    smsc.answerBinds(() => null)
    links.adopt(directory(carrier({ state: 'stopped' }), carrier({ id: 2, name: 'silent' })), holdsAll)
    await eventually(() => lastClose(2) === 'bind_timeout')
    answers[0]!()
    await links.whenUnbound(1, 0)
    expect([answered, lost]).toEqual([['under way 0'], []])
  })

  test('transmitter+receiver: only the transmitter submits', async () => {
    carrierLinks().adopt(directory(carrier({ bindMode: 'transmitter+receiver' })), holdsAll)
    await eventually(() => links.status(1).every(({ boundSince }) => boundSince !== null))
    expect(links.summary(1)?.state).toBe('BOUND_TX, BOUND_RX')
    expect(links.status(1).map(({ bind, state }) => [bind, state])).toEqual([
      ['bind_transmitter', 'BOUND_TX'],
      ['bind_receiver', 'BOUND_RX'],
    ])
    expect(links.freest(1)?.bind).toBe('bind_transmitter')
    expect(await smsc.deliver({ short_message: Buffer.from('mo') })).toBe(STATUSES.ESME_ROK)
  })

  test('a receiver alone submits nothing', async () => {
    carrierLinks().adopt(directory(carrier({ bindMode: 'receiver' })), holdsAll)
    await eventually(() => links.status(1)[0]?.state === 'BOUND_RX')
    expect(links.canSubmit(1)).toBe(false)
    expect(links.freest(1)).toBeNull()
  })

  test('once stopped it stays down', async () => {
    carrierLinks().adopt(directory(carrier()), holdsAll)
    await eventually(() => links.canSubmit(1))
    await links.stop()
    links.adopt(directory(carrier()), holdsAll)
    expect(links.status(1)).toEqual([])
    expect(smsc.binds).toHaveLength(1)
  })
})

describe('several binds', () => {
  const all = (count: number) => eventually(() => links.status(1).length === count && allBound())
  const allBound = () => links.status(1).every(({ boundSince }) => boundSince !== null)

  test('of each kind of the mode, and a window for each', async () => {
    carrierLinks().adopt(directory(carrier({ binds: 3, bindMode: 'transmitter+receiver' })), holdsAll)
    await all(6)
    expect(links.status(1).map(({ number, bind }) => `${number} ${bind}`)).toEqual([
      '0 bind_transmitter',
      '0 bind_receiver',
      '1 bind_transmitter',
      '1 bind_receiver',
      '2 bind_transmitter',
      '2 bind_receiver',
    ])
    expect(links.summary(1)?.state).toBe('BOUND_TX x3, BOUND_RX x3')
  })

  test('the one with most room is taken', async () => {
    smsc.answerSubmits(() => undefined)
    carrierLinks().adopt(directory(carrier({ binds: 2 })), holdsAll)
    await all(2)
    for (let count = 0; count < 10; count += 1)
      expect(links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, `${count}`)).toBe(true)
    expect(links.freest(1)).toBeNull()
    expect(links.canSubmit(1)).toBe(true)
    expect(links.status(1).map(({ unanswered }) => unanswered)).toEqual([5, 5])
    expect(links.summary(1)?.unanswered).toBe(10)
  })

  test('a change of their count adds or removes the difference', async () => {
    carrierLinks().adopt(directory(carrier({ binds: 2 })), holdsAll)
    await all(2)
    const since = links.status(1).map(({ boundSince }) => boundSince)
    links.adopt(directory(carrier({ binds: 4 })), holdsAll)
    await all(4)
    expect(smsc.binds).toHaveLength(4)
    links.adopt(directory(carrier({ binds: 1 })), holdsAll)
    expect(links.status(1).map(({ boundSince }) => boundSince)).toEqual(since.slice(0, 1))
    await eventually(() => smsc.bindsNow === 1)
    expect(smsc.binds).toHaveLength(4)
  })

  test('only those that this node holds are made', async () => {
    let held = new Set([1])
    const holds = (_carrierId: number, number: number) => held.has(number)
    carrierLinks().adopt(directory(carrier({ binds: 3 })), holds)
    await all(1)
    expect(links.status(1)[0]!.number).toBe(1)
    held = new Set([2])
    links.adopt(directory(carrier({ binds: 3 })), holds)
    await all(1)
    expect(links.status(1)[0]!.number).toBe(2)
    await links.whenUnbound(1, 1)
    await eventually(() => smsc.bindsNow === 1)
  })

  test('a node that has a part of them has that part of the rates', () => {
    const rates = { messagesPerSecond: 100, senderMessagesPerSecond: null }
    const held = new Set([1])
    const holds = (_carrierId: number, number: number) => held.has(number)
    carrierLinks()
    const settings = { ...rates, binds: 4, bindMode: 'transmitter+receiver' } as const
    links.adopt(directory(carrier(settings)), holds)
    expect(links.rateLimits(1)).toEqual({ messagesPerSecond: 25, senderMessagesPerSecond: null })
    for (const number of [0, 2, 3]) held.add(number)
    links.adopt(directory(carrier(settings)), holds)
    expect(links.rateLimits(1)).toEqual(rates)
    held.clear()
    links.adopt(directory(carrier(settings)), holds)
    expect(links.rateLimits(1)).toBeNull()
  })

  test('closed, they are made again by the next follow', async () => {
    smsc.answerSubmits(() => undefined)
    carrierLinks({ unbindTimeoutMs: 60_000 }).adopt(directory(carrier({ binds: 2 })), holdsAll)
    await all(2)
    links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, 'never answered')
    await links.close(50)
    expect(links.status(1)).toEqual([])
    expect(lost).toEqual(['never answered'])
    links.adopt(directory(carrier({ binds: 2 })), holdsAll)
    await all(2)
  })

  test('closed, those that were on their way down are cut too', async () => {
    smsc.answerSubmits(() => undefined)
    carrierLinks({ unbindTimeoutMs: 60_000 }).adopt(directory(carrier()), holdsAll)
    await all(1)
    links.freest(1)!.submit({ command: 'submit_sm', destination_addr: '1' }, 'never answered')
    links.adopt(directory(carrier({ state: 'stopped' })), holdsAll)
    await links.close(50)
    expect(lost).toEqual(['never answered'])
  })
})
