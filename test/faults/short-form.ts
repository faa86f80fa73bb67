import type { Kind } from './kind.ts'
import { kindsNamed } from './kinds.ts'

/** The runs of the short form. Only kinds that a machine with nothing but Node and npm can make. */
export const SHORT_RUNS: readonly {
  readonly nodes: number
  readonly seed: number
  readonly kinds: readonly Kind[]
  readonly seconds: number
  readonly maxFaults: number
  readonly rate: number
}[] = [
  {
    nodes: 1,
    seed: 1,
    kinds: kindsNamed([
      'kill',
      'kill-at-submit',
      'postgres-kill',
      'backends-terminated',
      'carrier-reset',
      'receiver-cutting',
      'terminate',
    ]),
    seconds: 60,
    maxFaults: 7,
    rate: 100,
  },
  {
    nodes: 2,
    seed: 2,
    kinds: kindsNamed([
      'kill-taken-over',
      'kill-at-webhook',
      'postgres-and-node-kill',
      'carrier-dropping',
      'event-loop-blocked',
      'receipts-early',
    ]),
    seconds: 70,
    maxFaults: 6,
    rate: 100,
  },
]
