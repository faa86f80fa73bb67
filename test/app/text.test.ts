import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { decodeInboundParts } from '../../src/domain/text/inbound-text.ts'
import { CARRIER, type Service, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

let smsc: Smsc
let service: Service

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port, webhooks: false })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** Sends the text with these settings of its plan; gives the record once it is SENT, and what the carrier got. */
async function send(body: string, settings: Record<string, unknown> = {}) {
  const plain = { smartEncoding: false, nationalLanguages: [] }
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ...plain, ...settings })
  const before = smsc.submits.length
  const { body: accepted } = await service.send({ body })
  const record = await service.until(accepted.msgId, 'SENT')
  return { accepted, record, submits: smsc.submits.slice(before) }
}

function received(submits: Smsc['submits']): string {
  return decodeInboundParts(submits.map(partOf))
}

function partOf({ esm_class, short_message, tlvs, data_coding }: Smsc['submits'][number]) {
  const { payload, part, language } = parseUserData({
    esmClass: esm_class,
    shortMessage: short_message,
    tlvs,
  })
  return { sequence: part?.sequence ?? 1, part, payload, dataCoding: data_coding, language }
}

describe('long messages', () => {
  const body = 'Sixteen words of {text} that do not fit one message. '.repeat(8).trim()

  test.each([
    ['udh', 'udh8', 3],
    ['udh16', 'udh16', 3],
    ['sar', 'sar', 3],
    ['payload', undefined, 1],
  ])('%s', async (longMessages, kind, pdus) => {
    await service.admin('PATCH', `/carriers/${CARRIER}`, { longMessages })
    const { accepted, record, submits } = await send(body)
    expect([accepted.segments, record.segments]).toEqual([3, 3])
    expect(submits).toHaveLength(pdus)
    expect(received(submits)).toBe(body)
    const parts = submits.map((submit) => partOf(submit).part)
    expect(parts.map((part) => part?.kind)).toEqual(Array(pdus).fill(kind))
    // From the id, so that it is the same after a restart.
    const reference = Number.parseInt(accepted.msgId.slice(24, 28), 16)
    for (const part of parts)
      if (part) expect(part.reference).toBe(kind === 'udh8' ? reference & 0xff : reference)
    await service.admin('PATCH', `/carriers/${CARRIER}`, { longMessages: 'udh' })
  })
})

describe('national languages', () => {
  const body = 'Şifreniz 482913; kimseyle paylaşmayın, ağabeyinizle dahi.'.repeat(2)

  test('are used where the plan allows them', async () => {
    const { accepted, submits } = await send(body, { nationalLanguages: ['turkish'] })
    expect(accepted.segments).toBe(1)
    expect(submits).toMatchObject([{ data_coding: 0, esm_class: 0x40 }])
    expect(partOf(submits[0]!).language).toEqual({ locking: null, single: 1 })
    expect(received(submits)).toBe(body)
  })

  test('and not where it does not', async () => {
    const { accepted, submits } = await send(body, { nationalLanguages: ['spanish'] })
    expect(accepted.segments).toBe(2)
    expect(submits).toMatchObject([{ data_coding: 8 }, { data_coding: 8 }])
    expect(received(submits)).toBe(body)
  })
})

describe('smart encoding', () => {
  const body = '“Don’t share 482913” — it’s yours…'

  test('changes what is sent, not what is stored', async () => {
    const { accepted, record, submits } = await send(body, { smartEncoding: true })
    expect(submits).toMatchObject([
      { data_coding: 0, short_message: Buffer.from('"Don\'t share 482913" - it\'s yours...') },
    ])
    expect([accepted.body, record.body]).toEqual([body, body])
  })

  test('is off by default, and leaves what it cannot make GSM', async () => {
    expect(received((await send(body)).submits)).toBe(body)
    const cyrillic = `${body} Код`
    const { submits } = await send(cyrillic, { smartEncoding: true })
    expect(submits).toMatchObject([{ data_coding: 8 }])
    expect(received(submits)).toBe(cyrillic)
  })
})
