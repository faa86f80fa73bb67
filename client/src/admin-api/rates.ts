// Made from the OpenAPI document by `npm run generate-client`.

import type { ImportResult } from './several-tags.ts'

export interface Rate {
  rateId: number
  /** null: every plan without a matching rate of its own. */
  servicePlanId: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
  /** decimal, for one segment. */
  price: string
  /** pass-through fee: decimal, for one segment. */
  ptf: string
  currency: string
  createdAt: string
}

export interface RateChange {
  /** Price: decimal, for one segment. */
  price?: string | number | undefined
  /** Pass-through fee: decimal, for one segment; default: 0. */
  ptf?: string | number | undefined
  /** Currency (ISO 4217). */
  currency?: string | undefined
}

export interface RateCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Beginning of E.164 numbers. */
  prefix?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country?: string | null | undefined
  /** Mobile country code and network code. */
  mccmnc?: string | null | undefined
  /** Price: decimal, for one segment. */
  price: string | number
  /** Pass-through fee: decimal, for one segment; default: 0. */
  ptf?: string | number | undefined
  /** Currency (ISO 4217). */
  currency: string
}

export interface RateImport {
  rates: RateCreation[]
}

export interface RatePage {
  items: Rate[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface RatesOperations {
  /** Import rates. Adds up to 1,000 rates, or changes the amounts of those that exist: all or none. */
  importRates: { input: RateImport; answer: ImportResult }
  /** Create a rate. Sets what a segment costs to a network, prefix or country, or anywhere. The most specific rate applies. */
  createRate: { input: RateCreation; answer: Rate }
  /** List rates. Sorted by name or number. */
  listRates: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Beginning of E.164 numbers. */
      prefix?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
    }
    answer: RatePage
  }
  /** Show a rate. Returns what it applies to and its amounts. */
  getRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    }
    answer: Rate
  }
  /** Update a rate. Omitted fields keep their values. Messages that were charged before keep their price. */
  updateRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    } & RateChange
    answer: Rate
  }
  /** Delete a rate. Messages that were charged by it keep their price. */
  deleteRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    }
    answer: undefined
  }
}
