// Made from the OpenAPI document by `npm run generate-client`.

import type { ImportResult } from './several-tags.ts'

export interface NumberRange {
  prefix: string
  mccmnc: string
  createdAt: string
}

export interface NumberRangeChange {
  /** Mobile country code and network code. */
  mccmnc: string
}

export interface NumberRangeCreation {
  /** Beginning of E.164 numbers. */
  prefix: string
  /** Mobile country code and network code. */
  mccmnc: string
}

export interface NumberRangeImport {
  ranges: NumberRangeCreation[]
}

export interface NumberRangePage {
  items: NumberRange[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface NumberRangesOperations {
  /** Import number ranges. Sets the networks of up to 1,000 number ranges at once, all or none. */
  importNumberRanges: { input: NumberRangeImport; answer: ImportResult }
  /** Create or replace a number range. Sets the network of a prefix. A number belongs to the network of its longest prefix. */
  setNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    } & NumberRangeChange
    answer: NumberRange
  }
  /** Show a number range. Returns the network of the prefix. */
  getNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    }
    answer: NumberRange
  }
  /** Delete a number range. Its numbers belong to the network of the next shorter prefix, if any. */
  deleteNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    }
    answer: undefined
  }
  /** List number ranges. Sorted by name or number. */
  listNumberRanges: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
    }
    answer: NumberRangePage
  }
}
