import { expect, test } from 'vitest'
import { TLVS, TLVS_BY_NAME, TLVS_BY_TAG } from '../../src/smpp/tlvs.ts'

test.each(Object.entries(TLVS))('%s is found by tag and by name', (name, tlv) => {
  expect(TLVS_BY_TAG.get(tlv.tag)?.name).toBe(name)
  expect(TLVS_BY_NAME.get(name)?.tag).toBe(tlv.tag)
})

test('no two parameters share a tag, none lies in the vendor range', () => {
  const tags = Object.values(TLVS).map((tlv) => tlv.tag)
  expect(new Set(tags).size).toBe(tags.length)
  expect(tags.filter((tag) => tag >= 0x1400 && tag <= 0x3fff)).toEqual([])
})
