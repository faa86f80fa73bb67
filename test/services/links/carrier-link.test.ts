import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIRMED_AFTER_MS } from '../../../src/domain/carriers/inbound-offers.ts'
import {
  CarrierLink,
  type LinkListeners,
  type LinkTimings,
  type SubmitEvents,
} from '../../../src/services/links/carrier-link.ts'
import type { OfferingSession } from '../../../src/services/receiving/inbound-offers.ts'
import { STATUSES } from '../../../src/smpp/statuses.ts'
import { aCarrier } from '../../support/directory.ts'
import { quietLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { accept, type Smsc, startSmsc } from '../../support/smsc.ts'

const WINDOW = 3

let smsc: Smsc
let link: CarrierLink<string>
let timedOut: string[]
let lost: string[]
let late: string[]

beforeEach(async () => {
  smsc = await startSmsc()
  timedOut = []
  lost = []
  late = []
})

afterEach(async () => {
  await link.stop()
  await smsc[Symbol.asyncDispose]()
})

async function bind(
  timings: LinkTimings,
  {
    onRequest = () => undefined,
    ...events
  }: Partial<SubmitEvents<string> & LinkListeners<string>['receiver']> = {},
  port = smsc.port,
): Promise<void> {
  link = new CarrierLink<string>({
    carrier: aCarrier({ port, window: WINDOW }),
    number: 0,
    bind: 'bind_transceiver',
    listeners: {
      submitter: {
        onReady: () => undefined,
        onResponse: () => undefined,
        onTimeout: (token) => void timedOut.push(token),
        onLateResponse: (token) => void late.push(token),
        onLost: (tokens) => void lost.push(...tokens),
        ...events,
      },
      receiver: { onRequest },
    },
    timings: { backoffMs: 20, unbindTimeoutMs: 100, answersTimeoutMs: 100, ...timings },
    log: quietLog,
  })
  link.start()
  await eventually(() => link.canSubmit)
}

const submit = (token = 'a') => link.submit({ command: 'submit_sm', destination_addr: '1' }, token)

/** Fills the window; gives how many places it had. */
function fill(): number {
  let count = 0
  for (; link.windowFree > 0; count += 1) submit()
  return count
}

describe('a carrier that answers enquire_link and no submit', () => {
  test('is cut after as many as its window has places; then it gets one at a time, until it answers', async () => {
    smsc.answerSubmits(() => undefined)
    await bind({ responseTimeoutMs: 300, enquireLinkIntervalMs: 50, enquireLinkTimeoutMs: 200 })
    expect(fill()).toBe(WINDOW)
    await eventually(() => smsc.binds.length === 2 && link.canSubmit)
    expect(link.status.lastClose).toBe('submits_unanswered')
    expect([timedOut.length, fill()]).toEqual([WINDOW, 1])
    await eventually(() => smsc.binds.length === 3 && link.canSubmit)
    smsc.answerSubmits((pdu, to) => accept(pdu, to, 'id'))
    expect(fill()).toBe(1)
    await eventually(() => link.windowFree === WINDOW)
    expect(smsc.binds).toHaveLength(3)
  })

  test('loses a place with each, so that what is cut is no more than a window', async () => {
    smsc.answerSubmits(() => undefined)
    let most = 0
    const onTimeout = (token: string) => {
      timedOut.push(token)
      most = Math.max(most, fill())
    }
    await bind({ responseTimeoutMs: 100 }, { onTimeout })
    fill()
    await eventually(() => smsc.binds.length === 2)
    expect([smsc.submits.length, most]).toEqual([WINDOW, 0])
  })

  test('a bind, however long it lasts, does not shorten the pause', async () => {
    const timings = { responseTimeoutMs: 1_050, backoffMs: 300 }
    smsc.answerSubmits(() => undefined)
    await bind(timings, { onReady: () => void fill() })
    await eventually(() => smsc.binds.length === 4)
    const gapMs = smsc.bindTimesMs[3]! - smsc.bindTimesMs[2]!
    expect(gapMs).toBeGreaterThan(timings.responseTimeoutMs + 0.8 * 4 * timings.backoffMs - 2)
  })

  test('an answer that comes late is one: its places are free again, and that is told', async () => {
    let ready = 0
    const onReady = () => {
      ready += 1
    }
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, to) => answers.push(() => accept(pdu, to, 'id')))
    await bind({ responseTimeoutMs: 100 }, { onReady })
    for (const [count, more] of [
      [1, 2],
      [3, 4],
    ] as const) {
      submit()
      submit()
      await eventually(() => timedOut.length === more)
      answers[count - 1]!()
      await eventually(() => late.length === more / 2)
    }
    expect([smsc.binds.length, link.windowFree, ready]).toEqual([1, WINDOW, 1 + 2])
  })
})

describe('a session that the carrier calls out of order', () => {
  test('is made anew, each time after a longer pause while it does not last', async () => {
    await bind({ backoffMs: 50 })
    for (const binds of [2, 3, 4]) {
      expect(link.rebind()).toBe(true)
      await eventually(() => smsc.binds.length === binds && link.canSubmit)
    }
    const gaps = smsc.bindTimesMs.slice(1).map((atMs, index) => atMs - smsc.bindTimesMs[index]!)
    for (const [index, gapMs] of gaps.entries()) expect(gapMs).toBeGreaterThan(0.8 * 50 * 2 ** index - 2)
  })

  test('and that has taken a message since it was made anew, is in order', async () => {
    await bind({})
    submit()
    await eventually(() => link.unanswered === 0)
    expect(link.rebind()).toBe(true)
    // Other answers of the same kind, before the session is over.
    expect(link.rebind()).toBe(true)
    await eventually(() => smsc.binds.length === 2 && link.canSubmit)
    submit()
    await eventually(() => smsc.submits.length === 2 && link.unanswered === 0)
    expect(link.rebind()).toBe(false)
    expect([link.canSubmit, smsc.binds.length]).toEqual([true, 2])
  })

  test('a refusal is no sign that it is', async () => {
    smsc.answerSubmits((pdu, to) => to.respond(pdu, STATUSES.ESME_RINVDSTADR))
    await bind({})
    expect(link.rebind()).toBe(true)
    await eventually(() => smsc.binds.length === 2 && link.canSubmit)
    submit()
    await eventually(() => smsc.submits.length === 1 && link.unanswered === 0)
    expect(link.rebind()).toBe(true)
  })
})

test('silence after an answer: an enquire_link brings the proof that the answer was read', async () => {
  const answered = Promise.withResolvers<{ session: OfferingSession; atMs: number }>()
  await bind(
    {},
    {
      onRequest: (pdu, connection) => {
        connection.respond(pdu, STATUSES.ESME_ROK)
        answered.resolve({ session: connection, atMs: performance.now() })
      },
    },
  )
  expect(await smsc.deliver({ source_addr: '1', destination_addr: '2' })).toBe(STATUSES.ESME_ROK)
  const answer = await answered.promise
  await eventually(() => answer.session.lastReceivedMs - answer.atMs >= CONFIRMED_AFTER_MS)
  expect(smsc.heard.filter(({ pdu }) => pdu.command === 'enquire_link')).toHaveLength(1)
})

describe('a session that ends', () => {
  test('B386 enquire_link never answered: closed, what was under way is handed back, bound again', async () => {
    const binds: net.Socket[] = []
    // Answers each bind and nothing else.
    const mute = net.createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (request: Buffer) => {
        const answer = Buffer.from('00000011800000090000000000000000' + '00', 'hex')
        request.copy(answer, 12, 12, 16)
        socket.write(answer)
        binds.push(socket)
      })
    })
    await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening))
    const { port } = mute.address() as AddressInfo
    await bind({ enquireLinkIntervalMs: 100, enquireLinkTimeoutMs: 50 }, {}, port)
    submit('under way')
    await eventually(() => binds.length === 2)
    expect(link.status.lastClose).toBe('enquire_link_timeout')
    expect(lost).toEqual(['under way'])
    await link.stop()
    for (const socket of binds) socket.destroy()
    await new Promise((closed) => mute.close(closed))
  })

  test('is followed by another, whatever becomes of what was under way', async () => {
    const onLost = () => {
      throw new Error('of the application')
    }
    await bind({}, { onLost })
    ;(await smsc.bound()).destroy()
    await eventually(() => smsc.binds.length === 2 && link.canSubmit)
  })
})

describe('its report', () => {
  test('a session, what is unanswered, and each way in which submits are refused', async () => {
    const statuses = [STATUSES.ESME_RTHROTTLED, STATUSES.ESME_RTHROTTLED, 0x401]
    smsc.answerSubmits((pdu, to, index) => {
      if (index < statuses.length) to.respond(pdu, statuses[index]!)
    })
    await bind({})
    const bound = { number: 0, type: 'transceiver', state: 'bound', retryAt: null, window: WINDOW }
    const since = link.status.boundSince!
    expect(link.report).toEqual({ ...bound, since, unanswered: 0, errors: [] })
    for (const token of ['a', 'b', 'c', 'd']) {
      await eventually(() => link.windowFree > 0)
      submit(token)
    }
    await eventually(() => link.report.errors.length === 2 && link.report.unanswered === 1)
    expect(link.report).toMatchObject({ ...bound, since })
    const refused = { error: 'submit_sm', detail: null, at: expect.any(String) }
    expect(link.report.errors.toSorted((a, b) => b.count - a.count)).toEqual([
      { ...refused, status: 'ESME_RTHROTTLED', count: 2 },
      { ...refused, status: '0x00000401', count: 1 },
    ])
  })

  test('while it is not bound: since when, until when it waits, and why', async () => {
    await bind({ backoffMs: 60_000 })
    smsc.answerBinds(() => STATUSES.ESME_RALYBND)
    ;(await smsc.bound()).destroy()
    await eventually(() => link.report.state === 'backing-off')
    const { since, retryAt, errors } = link.report
    expect(Date.parse(retryAt!)).toBeGreaterThan(Date.parse(since))
    expect(errors).toMatchObject([{ error: 'peer_closed', status: null, count: 1 }])
  })

  test('refused again and again it is down since the same time; once stopped it is ending', async () => {
    smsc.answerBinds(() => STATUSES.ESME_RALYBND)
    const binding = bind({})
    await eventually(() => (link.report.errors[0]?.count ?? 0) > 1)
    const { since, errors } = link.report
    expect(errors).toMatchObject([{ error: 'bind_rejected', status: 'ESME_RALYBND', detail: null }])
    await eventually(() => link.report.errors[0]!.count > 2)
    expect(link.report.since).toBe(since)
    smsc.answerBinds(() => STATUSES.ESME_ROK)
    await binding
    await link.stop()
    expect(link.report.state).toBe('unbinding')
  })
})
