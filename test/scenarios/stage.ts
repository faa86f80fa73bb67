/** What the scenarios of a file share: a hostile carrier and the whole service behind it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, type Service, type ServiceOptions, startService } from '../support/service.ts'
import { ESME_ROK, Smsc } from '../support/smsc.ts'

interface Scenario {
  readonly id: string
  /** What is done to us, and what holds all the same. */
  readonly sentence: string
}

export const SCENARIOS: readonly Scenario[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'vectors', 'smpp-scenarios.json'), 'utf8'),
)

/** Registers the test of a scenario, named by its sentence. */
export function scenario(id: string, run: () => Promise<void>): void {
  const { sentence } = SCENARIOS.find((known) => known.id === id)!
  test(`${sentence} (${id})`, run)
}

/** Of the people in the scenarios: they may not stand in a log. */
const NUMBERS = /1555[0-9]{7}/

/** A carrier whose ids hold what has another place in the GSM alphabet, and what is no digit. */
export function startOddSmsc(): Promise<Smsc> {
  return Smsc.start({ idOf: (accepted) => `Id_${accepted + 1}$f` })
}

export interface Stage {
  readonly smsc: Smsc
  readonly service: Service
  /** As `scenario`; afterwards the carrier behaves, a message is delivered, and no log line is left but these. */
  scenario(id: string, run: () => Promise<void>, logs?: RegExp): void
}

/** At most once a minute, so it may be about an earlier scenario. */
const TOLD_LATER = /refused receipts or inbound messages/

export function stage(options: ServiceOptions = {}): Stage {
  let smsc: Smsc
  let service: Service
  beforeAll(async () => {
    smsc = await startOddSmsc()
    service = await startService({ ...options, smscPort: smsc.port })
  })
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
    await smsc?.[Symbol.asyncDispose]()
  })
  const own: Stage = {
    get smsc() {
      return smsc
    },
    get service() {
      return service
    },
    scenario: (id, run, logs) =>
      scenario(id, async () => {
        smsc.behave()
        const logged = service.logs.length
        await run()
        smsc.behave()
        await delivers(own)
        expect(service.logs.slice(logged).filter((line) => NUMBERS.test(line))).toEqual([])
        const unexpected = (line: string) => !TOLD_LATER.test(line) && logs?.test(line) !== true
        expect(service.logs.slice(logged).filter(unexpected)).toEqual([])
      }),
  }
  return own
}

/** A message that the carrier has accepted: its id here, and with the carrier. */
export interface Submitted {
  readonly msgId: string
  readonly id: string
}

export async function submitted(
  { smsc, service }: Pick<Stage, 'smsc' | 'service'>,
  fields: Record<string, unknown> = {},
): Promise<Submitted> {
  const msgId = await service.sent(fields)
  await service.until(msgId, 'SENT')
  return { msgId, id: smsc.ids.at(-1)! }
}

/** Nothing is wedged: a message goes all the way. */
async function delivers(on: Pick<Stage, 'smsc' | 'service'>): Promise<void> {
  const { msgId, id } = await submitted(on)
  expect(await on.smsc.receipt(id, 'DELIVRD')).toBe(ESME_ROK)
  await on.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
}

/** Runs `work` over one session, which is the same before and after. */
export async function overOneSession({ smsc }: Stage, work: () => Promise<void>): Promise<void> {
  const peer = await smsc.bound()
  const binds = smsc.binds.length
  await work()
  expect([await smsc.bound(), smsc.binds.length]).toEqual([peer, binds])
}

/** Another carrier, `second`, which the route takes when the first cannot be used, as long as this is not disposed. */
export async function secondCarrier({ service }: Stage): Promise<{ smsc: Smsc } & AsyncDisposable> {
  const smsc = await startOddSmsc()
  const settings = { name: 'second', host: '127.0.0.1', port: smsc.port, systemId: 'aldis', password: 'x' }
  await service.admin('POST', '/carriers', settings)
  const carriers = [{ carrier: 'main' }, { carrier: 'second', priority: 1 }]
  await service.admin('PATCH', '/routes/default', { carriers })
  await smsc.bound()
  return {
    smsc,
    async [Symbol.asyncDispose]() {
      await service.admin('PATCH', '/routes/default', { carriers: carriers.slice(0, 1) })
      await service.admin('DELETE', '/carriers/second')
      await smsc[Symbol.asyncDispose]()
    },
  }
}

/** A metric of the node, summed over the series that have these labels. */
export async function metric({ service }: Stage, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${service.app.url}/metrics`)).text()
  const series = text.split('\n').filter((line) => line.startsWith(name) && line.includes(labels))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** How often the carrier did what SMPP does not allow, by kind. */
export function anomalies(on: Stage, kind: string): Promise<number> {
  return metric(on, 'aldis_smpp_anomalies_total', `kind="${kind}"`)
}

/** As the operator sees the carrier's one link. */
export async function link({ service }: Stage): Promise<{ state: string; lastClose: string | null }> {
  return (await service.admin('GET', '/carriers/main')).link.links[0]
}

/** A link that has not failed yet: the pauses of one that is cut again and again grow. */
export async function freshLink({ smsc, service }: Stage): Promise<void> {
  smsc.behave()
  await service.admin('PATCH', '/carriers/main', { state: 'stopped' })
  await eventually(() => smsc.boundNow.length === 0)
  await service.admin('PATCH', '/carriers/main', { state: 'started' })
  await smsc.bound()
}

/** As the operator sees the message. */
export function shown(
  { service }: Pick<Stage, 'service'>,
  msgId: string,
): Promise<Awaited<ReturnType<Service['admin']>>> {
  return service.admin('GET', `/messages/${msgId}`)
}

/** Bodies of the inbound webhooks from this sender so far. */
export function bodiesFrom({ service }: Stage, from: string): string[] {
  return service.receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter((webhook) => webhook.direction === 'MO' && webhook.from === from)
    .map(({ body }) => body)
}

/** Waits until these came from the sender, and no other. */
export async function untilBodies(on: Stage, from: string, expected: readonly string[]): Promise<void> {
  await eventually(() => bodiesFrom(on, from).length >= expected.length)
  expect(bodiesFrom(on, from)).toEqual(expected)
}
