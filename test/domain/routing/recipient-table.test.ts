import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecipientMatch } from '../../../src/domain/configuration/configuration.ts'
import { RecipientTable } from '../../../src/domain/routing/recipient-table.ts'
import { specificity } from '../../../src/domain/routing/recipients.ts'
import { networksOf } from '../../support/directory.ts'
import { ALL, ANYWHERE, COUNTRY, LONG, NETWORK, SHORT, to } from '../../support/recipient-matches.ts'

const MESSAGE = { recipient: '+447911123456', country: 'GB', mccmnc: '23415' }

function tableOf(matches: readonly RecipientMatch[], group = 1): RecipientTable {
  const table = new RecipientTable(matches.length)
  for (const match of matches) table.add(group, match)
  return table
}

function found(table: RecipientTable, message: Partial<typeof MESSAGE> | object, group = 1) {
  const entry = table.mostSpecific(group, { ...MESSAGE, ...message })
  return entry === null ? null : table.matchOf(entry)
}

describe('RecipientTable', () => {
  it('finds mccmnc before the longer prefix, country, anywhere', () => {
    expect(ALL.map((_, most) => found(tableOf(ALL.slice(0, most + 1)), {}))).toEqual(ALL)
  })

  it('finds only what the message fits', () => {
    const table = tableOf([COUNTRY, SHORT, LONG, NETWORK])
    expect(found(table, { mccmnc: null })).toEqual(LONG)
    expect(found(table, { recipient: '+447912123456', mccmnc: '23410' })).toEqual(SHORT)
    expect(found(table, { recipient: '+447700900123', mccmnc: null })).toEqual(COUNTRY)
    expect(found(table, { recipient: '+46701234567', country: 'SE', mccmnc: '24001' })).toBeNull()
    expect(found(table, { recipient: '+88213300655', country: null, mccmnc: null })).toBeNull()
    expect(found(tableOf([]), {})).toBeNull()
    expect(found(table, {}, 2)).toBeNull()
  })

  it('takes no more than it has room for', () => {
    const table = tableOf(ALL)
    expect(() => table.add(2, COUNTRY)).toThrow(RangeError)
    expect(table.size).toBe(ALL.length)
  })

  it('gives what comparing every match of the group gives', () => {
    const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-2]{1,${most}}$`))
    const match = fc.oneof(
      digits(15).map((each) => to({ prefix: `+${each}` })),
      fc.constantFrom('AA', 'GB', 'ZZ').map((country) => to({ country })),
      fc.constantFrom('00101', '001001', '99999', '999999').map((mccmnc) => to({ mccmnc })),
      fc.constant(ANYWHERE),
    )
    const group = fc.constantFrom(0, 1, 2_147_483_647)
    const matches = fc.uniqueArray(fc.record({ group, match }), {
      selector: (each) => JSON.stringify(each),
      maxLength: 60,
    })
    const message = fc.record({
      recipient: digits(15).map((each) => `+${each}`),
      country: fc.constantFrom(null, 'AA', 'GB'),
      mccmnc: fc.constantFrom(null, '00101', '999999'),
    })
    fc.assert(
      fc.property(matches, message, group, (all, area, asked) => {
        const table = new RecipientTable(all.length)
        for (const each of all) table.add(each.group, each.match)
        const fitting = all.filter(({ group: own, match: { prefix, country, mccmnc } }) => {
          if (own !== asked) return false
          if (mccmnc !== null) return mccmnc === area.mccmnc
          if (prefix !== null) return area.recipient.startsWith(prefix)
          return country === null || country === area.country
        })
        const [best = null] = fitting.sort((a, b) => specificity(b.match) - specificity(a.match))
        expect(found(table, area, asked)).toEqual(best?.match ?? null)
        const entry = table.mostSpecific(asked, area)
        if (entry !== null) expect(table.groupOf(entry)).toBe(asked)
      }),
    )
  })
})

describe('NetworkTable', () => {
  it('gives the network of the longest prefix', () => {
    const networks = networksOf(
      new Map([
        ['+4', '26201'],
        ['+4477', '23415'],
        ['+44', '23410'],
      ]),
    )
    const numbers = ['+447700900123', '+44', '+4915112345678', '+15551230000', '+447']
    expect(numbers.map((number) => networks.networkOf(number))).toEqual([
      '23415',
      '23410',
      '26201',
      null,
      '23410',
    ])
    expect(networksOf(new Map()).networkOf('+15551230000')).toBeNull()
  })
})
