/**
 * `npm run faults:upgrade`: the next release rolls over the nodes one by one, back again, and over them once more, under load.
 * All the while clients try another node when one is stopped or starts. Nothing may be lost, late or out of order.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import { holdsWithin } from './clock.ts'
import { exercise } from './exercise.ts'
import type { Kind } from './kind.ts'
import type { FaultEntry, Ledgers, LoadEntry } from './ledgers.ts'
import { nextRelease, type Release, thisRelease } from './releases.ts'
import { tables } from './report.ts'
import type { Planned } from './schedule.ts'
import { summarise } from './summary.ts'

const REPORTED_MS = 15_000

/** Replaces a node by one of another release, as an operator does: SIGTERM, the drain, a start. */
function move(name: string, { main, version }: Release): Kind {
  return {
    name,
    summary: `a node is stopped, and started as ${version}`,
    excuses: { drains: true },
    // A connection that is made as the node stops listening may be reset before the node has accepted it.
    known: ['reset-while-draining'],
    holdMs: [0, 0],
    async begin({ bed, node }) {
      if (!(await node.terminate())) throw new Error(`node ${node.index} did not drain`)
      node.main = main
      return {
        async end() {
          await node.start()
          await runs(bed, `node-${node.index}`, version)
        },
      }
    },
  }
}

async function runs(bed: Bed, name: string, version: string): Promise<void> {
  const isSo = await holdsWithin(REPORTED_MS, async () => {
    const { items } = (await bed.admin('GET', '/nodes')) as { items: { name: string; version: string }[] }
    return items.some((node) => node.name === name && node.version === version)
  })
  if (!isSo) throw new Error(`${name} does not say that it runs ${version}`)
}

/** All forward, all back, all forward; between two moves the releases serve side by side. */
function planOf(moves: { upgrade: Kind; rollback: Kind }, nodes: number, sideMs: number): Planned[] {
  const { upgrade, rollback } = moves
  return [upgrade, rollback, upgrade].flatMap((kind) =>
    Array.from({ length: nodes }, (_, node) => ({ kind, node, holdMs: 0, gapMs: sideMs, seed: 1 })),
  )
}

interface Refusals {
  /** Requests that met a stopped or starting node and went to another. */
  readonly refused: number
  readonly answered503: number
  /** Every other 5xx. */
  readonly faulty: number
  /** Without a key, so nobody may repeat them. */
  readonly resets: number
  /** Every other request that had no 202. */
  readonly neverAccepted: number
}

function refusalsOf({ load, faults }: Ledgers): Refusals {
  const isMoving = (node: number, atMs: number) =>
    faults.some((fault) => fault.node === node && fault.startMs <= atMs && atMs <= fault.endMs)
  const answers = load.flatMap((entry) => entry.answers)
  const unaccepted = load.filter((entry) => entry.answers.every(({ status }) => status !== 202))
  const isReset = (entry: LoadEntry) => entry.answers.at(-1)?.failure === 'reset'
  const errors = answers.filter(({ status }) => status !== null && status >= 500)
  const excused = errors.filter(
    ({ status, node, answeredAtMs }) => status === 503 && isMoving(node, answeredAtMs),
  )
  return {
    refused: answers.filter(({ failure }) => failure === 'refused').length,
    answered503: excused.length,
    faulty: errors.length - excused.length,
    resets: unaccepted.filter(isReset).length,
    neverAccepted: unaccepted.filter((entry) => !isReset(entry)).length,
  }
}

/** How many messages were accepted while nodes of both releases served. */
function acceptedSideBySide({ load }: Ledgers, faults: readonly FaultEntry[], nodes: number): number {
  const isMixed = (atMs: number) => faults.filter(({ endMs }) => endMs <= atMs).length % nodes !== 0
  return load
    .flatMap((entry) => entry.answers)
    .filter(({ status, answeredAtMs }) => status === 202 && isMixed(answeredAtMs)).length
}

async function drill(nodes: number, options: { rate: number; sideMs: number; folder: string }) {
  const { rate, sideMs, folder } = options
  const [old, next] = [thisRelease(), nextRelease(join(folder, `next-${nodes}`))]
  const moves = { upgrade: move('upgrade', next), rollback: move('rollback', old) }
  const schedule = planOf(moves, nodes, sideMs)
  const never = new AbortController().signal
  const exercised = await exercise({
    nodes,
    rate,
    schedule,
    folder: join(folder, `nodes-${nodes}`),
    // The plan ends the run.
    seconds: 3_600,
    maxFaults: schedule.length,
    hasStandby: false,
    offersPartsAtOnce: false,
    triesElsewhere: true,
    random: new SeededRandom(1),
    ending: never,
    signal: never,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  })
  const { ledgers } = exercised
  const summary = summarise(
    exercised,
    { nodes, seed: 1, rate },
    { kinds: Object.values(moves), areTimesJudged: false },
  )
  const refusals = refusalsOf(ledgers)
  const isGood =
    summary.unexpected === 0 && summary.isSettled && refusals.faulty === 0 && refusals.neverAccepted === 0
  return { summary, refusals, sideBySide: acceptedSideBySide(ledgers, ledgers.faults, nodes), isGood }
}

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2,3' },
    rate: { type: 'string', default: '150' },
    side: { type: 'string', default: '8' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'aldis-upgrade-'))
try {
  const results = []
  for (const nodes of new Set(values.nodes.split(',').map(Number)))
    results.push(
      await drill(nodes, { rate: Number(values.rate), sideMs: Number(values.side) * 1_000, folder }),
    )
  process.stdout.write(tables(results.map(({ summary }) => summary)))
  for (const { summary, refusals, sideBySide } of results) {
    process.stdout.write(`${summary.nodes} nodes: ${JSON.stringify({ sideBySide, ...refusals })}\n`)
    for (const { rule, subject } of summary.findings) process.stdout.write(`found: ${rule}: ${subject}\n`)
  }
  if (results.every(({ isGood }) => isGood)) rmSync(folder, { recursive: true, force: true })
  else {
    process.stdout.write(`The logs of the nodes are in ${folder}.\n`)
    process.exitCode = 1
  }
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.stack : error}\nThe logs are in ${folder}.\n`)
  process.exitCode = 1
}
// Resources that a failed run has left open must not keep the process alive.
process.exit()
