/**
 * The CPU that traces cost a message: deciding whether it is traced, and making its spans if it is. Run `npm run trace-costs`; the
 * collector is a port where nothing listens.
 */
import { randomBytes } from 'node:crypto'
import { messageId } from '../src/domain/identifiers.ts'
import type { Accepted } from '../src/domain/journal/message-facts.ts'
import { isTraced } from '../src/domain/trace-context.ts'
import { aDirectory } from '../test/support/directory.ts'

const SHARE = 0.01
const IDS = 100_000
const ROUNDS = 50
/** Spans of a message of one segment: accept, submit_sm, receipt, two webhooks. */
const SPANS = 5
/** As many as are in memory at most. */
const TRACED = Math.floor(2_048 / SPANS)

/** CPU of this process so far, µs: what others do on the machine counts less than by the clock. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

const beforeImportUs = cpuUs()
const { Traces } = await import('../src/services/tracing/traces.ts')
const importMs = (cpuUs() - beforeImportUs) / 1_000

const ids = Array.from({ length: IDS }, () => messageId(Date.now(), randomBytes(9), 7))

let traced = 0
const decide = () => {
  for (const id of ids) if (isTraced(id, SHARE)) traced += 1
}
decide()
const beforeDecisionsUs = cpuUs()
for (let round = 0; round < ROUNDS; round += 1) decide()
const decisionUs = (cpuUs() - beforeDecisionsUs) / IDS / ROUNDS

const directory = aDirectory()
const accepted = { kind: 'accepted', planId: 1, segments: 1 } as Accepted
function spansUs(): number {
  const traces = new Traces({
    collector: { url: 'http://127.0.0.1:1/v1/traces', headers: {}, serviceName: 'bench', timeoutMs: 100 },
    share: SHARE,
    nodeName: 'bench',
    version: '0',
    directory: () => directory,
    nowMs: Date.now,
    log: { error: () => undefined, warn: () => undefined, info: () => undefined },
    count: () => undefined,
  })
  const beforeUs = cpuUs()
  for (let index = 0; index < TRACED; index += 1)
    for (let span = 0; span < SPANS; span += 1) traces.accepted(ids[index]!, accepted, 1, undefined)
  const us = (cpuUs() - beforeUs) / TRACED
  void traces.stop()
  return us
}
spansUs()
const messageUs = Math.min(...Array.from({ length: 5 }, spansUs))

/** Asked at each span, and of each fact in a batch (docs/ARCHITECTURE.md, what a message costs). */
const DECISIONS = SPANS + 8
const report = {
  'import, ms': importMs,
  'one decision, µs': decisionUs,
  'share that was traced': traced / IDS / (ROUNDS + 1),
  'spans of a traced message, µs': messageUs,
  'together for a message at 1 %, µs': DECISIONS * decisionUs + SHARE * messageUs,
}
for (const [name, value] of Object.entries(report)) process.stdout.write(`${name}: ${value.toFixed(4)}\n`)
process.exit()
