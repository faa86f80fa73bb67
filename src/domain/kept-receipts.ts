import { parseReceipt } from './receipts.ts'

/** A receipt as its carrier sent it, for the operator. */
export interface KeptReceipt {
  readonly text: string
  /** By name, or by number (`0x1403`) where SMPP 3.4 has no name. Octets are written in hexadecimal. */
  readonly tlvs: Readonly<Record<string, string>>
}

/** Characters kept of a receipt. A text that an SMSC builds has at most some 300. */
const MAX_KEPT = 1_024
/** Characters of these that TLVs may take, names included, so that they never squeeze out the text. */
const MAX_TLVS = 512
const HEX = /^0x([0-9a-f]*)$/

type TlvValue = string | number | boolean | Buffer

/** The part of a receipt that is kept. `tlvs` excludes the one that carried the text. Values that do not fit are left out. */
export function keptReceipt(text: string, tlvs: Iterable<readonly [string, TlvValue]>): KeptReceipt {
  const kept: Record<string, string> = {}
  let left = MAX_TLVS
  for (const [name, value] of tlvs) {
    const shown = shownValue(value)
    if (name.length + shown.length > left) continue
    left -= name.length + shown.length
    kept[name] = shown
  }
  return { text: storable(text.slice(0, MAX_KEPT - (MAX_TLVS - left))), tlvs: kept }
}

/** The carrier's id and its own words for state and error, read from what was kept; null where the receipt has none. */
export function readKept({ text, tlvs }: KeptReceipt): {
  carrierMessageId: string | null
  carrierCode: string | null
} {
  const state = tlvs.message_state
  const network = HEX.exec(tlvs.network_error_code ?? '')?.[1]
  const receipt = parseReceipt(text, {
    receipted_message_id: tlvs.receipted_message_id,
    message_state: state === undefined ? undefined : Number(state),
    network_error_code: network === undefined ? undefined : Buffer.from(network, 'hex'),
  })
  if (receipt === null) return { carrierMessageId: null, carrierCode: null }
  const word = receipt.vendorState ?? receipt.state
  const carrierCode = receipt.errorCode === null ? word : `${word} ${receipt.errorCode}`
  return { carrierMessageId: receipt.carrierMessageId, carrierCode }
}

function shownValue(value: TlvValue): string {
  return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : storable(String(value))
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
