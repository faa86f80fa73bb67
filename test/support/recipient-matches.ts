import type { RecipientMatch } from '../../src/domain/configuration/configuration.ts'

/** A match of these recipients; without changes: of any. */
export const to = (changes: Partial<RecipientMatch>): RecipientMatch => ({
  prefix: null,
  country: null,
  mccmnc: null,
  ...changes,
})

export const NETWORK = to({ mccmnc: '23415' })
export const LONG = to({ prefix: '+447911' })
export const SHORT = to({ prefix: '+4479' })
export const COUNTRY = to({ country: 'GB' })
export const ANYWHERE = to({})
/** The most specific last. */
export const ALL = [ANYWHERE, COUNTRY, SHORT, LONG, NETWORK]
