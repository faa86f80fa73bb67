import { test } from 'vitest'
import { compareCounts } from './segments-compared.ts'

test(
  '100,000 texts: the same encoding, and the same count but where the package keeps clusters whole',
  () => compareCounts(100_000),
  300_000,
)
