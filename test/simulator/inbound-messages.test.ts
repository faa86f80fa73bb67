import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { decodeInboundParts } from '../../src/domain/text/inbound-text.ts'
import { type InboundForm, inboundMessageFields } from '../../src/simulator/inbound-messages.ts'

const ADDRESSES = { from: '+15551230002', to: '12345' }
const LONG = `${'The quick brown fox {jumps} over €20 worth of lazy dogs. '.repeat(8)}end`
const LONG_UCS2 = `${'Ein 😀 Satz mit Umlauten und 漢字. '.repeat(8)}end`

/** The text an ESME puts together, and how each part was marked. */
function received(body: string, form: InboundForm): { text: string; kinds: (string | undefined)[] } {
  const parts = inboundMessageFields({ ...ADDRESSES, body, form }, 7).map((fields) => {
    const shortMessage = fields.short_message ?? Buffer.alloc(0)
    const { payload, part } = parseUserData({
      esmClass: fields.esm_class!,
      shortMessage,
      tlvs: fields.tlvs ?? {},
    })
    return { sequence: part?.sequence ?? 1, payload, dataCoding: fields.data_coding!, part }
  })
  for (const { part } of parts)
    if (part !== null) expect(part).toMatchObject({ reference: 7, total: parts.length })
  return { text: decodeInboundParts(parts), kinds: parts.map(({ part }) => part?.kind) }
}

const FORMS = ['udh8', 'udh16', 'sar', 'payload'] as const

describe.each(FORMS)('%s', (form) => {
  test.each([
    ['GSM', LONG],
    ['UCS-2', LONG_UCS2],
  ])('a long %s text comes out as it went in', (_, body) => {
    const { text, kinds } = received(body, form)
    expect(text).toBe(body)
    expect(new Set(kinds)).toEqual(new Set([form === 'payload' ? undefined : form]))
    expect(kinds.length === 1).toBe(form === 'payload')
  })

  test('a short text is one part without a number', () => {
    expect(received('hi', form)).toEqual({ text: 'hi', kinds: [undefined] })
  })

  test('so does any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (string) => {
        const body = string.replaceAll('\0', '')
        expect(received(body, form).text).toBe(body)
      }),
    )
  })
})

test.each([
  ['GSM', '{'.repeat(600)],
  ['UCS-2', '😀'.repeat(300)],
])('wide headers: %s parts fit into 140 octets over the air, pairs whole', (kind, body) => {
  for (const fields of inboundMessageFields({ ...ADDRESSES, body, form: 'udh16' }, 7)) {
    const payload = fields.short_message!.subarray(7)
    expect(payload.length).toBeLessThanOrEqual(kind === 'GSM' ? 152 : 132)
    expect(payload.length % (kind === 'GSM' ? 2 : 4)).toBe(0)
  }
})

test('addresses get their type and plan', () => {
  expect(inboundMessageFields({ from: 'Bank', to: '+447700900123', body: '' }, 0)).toEqual([
    {
      source_addr_ton: 5,
      source_addr_npi: 0,
      source_addr: 'Bank',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '447700900123',
      data_coding: 0,
      esm_class: 0,
      short_message: Buffer.alloc(0),
      tlvs: {},
    },
  ])
})

test('more than 255 parts', () => {
  const body = 'x'.repeat(255 * 153)
  expect(inboundMessageFields({ ...ADDRESSES, body }, 0)).toHaveLength(255)
  expect(() => inboundMessageFields({ ...ADDRESSES, body: `${body}x` }, 0)).toThrow(RangeError)
  expect(() => inboundMessageFields({ ...ADDRESSES, body, form: 'udh16' }, 0)).toThrow(RangeError)
})
