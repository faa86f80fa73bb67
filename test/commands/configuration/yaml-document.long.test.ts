import { test } from 'vitest'
import { readAnything, readKeys } from './yaml-document.ts'

/** The short form, yaml-document.test.ts, reads a tenth of the keys and a seventh of the texts. */

test('nothing that is typed makes it throw', () => readAnything(2_000))

test('100,000 keys of one mapping are read, and a repeated one found', () => readKeys(100_000))
