/** `npm run faults`: runs the service under faults, and judges it by the ledgers. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runControls } from './controls.ts'
import { KINDS } from './kinds.ts'
import { type FaultOptions, readOptions } from './options.ts'
import { perform, type Run } from './perform.ts'
import { tables } from './report.ts'
import { SHORT_RUNS } from './short-form.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import type { Summary } from './summary.ts'

/** The first signal ends the faults, and the run so far is judged. The second, or any to the short form, ends all. */
const ending = new AbortController()
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (ending.signal.aborted || process.argv.includes('--short')) interrupted.abort()
    ending.abort()
  })

function say(line: string): void {
  const minutes = (performance.now() / 60_000).toFixed(1)
  process.stderr.write(`${minutes.padStart(5)} min  ${line}\n`)
}

function runsOf(options: FaultOptions): Run[] {
  if (options.form === 'short') return [...SHORT_RUNS]
  const { seed, kinds, minutes, maxFaults, rate } = options
  return options.nodes.map((nodes) => ({ nodes, seed, kinds, seconds: minutes * 60, maxFaults, rate }))
}

/** Leaves out the kinds that this machine cannot make. */
async function performHere(run: Run, folder: string, isLong: boolean): Promise<Summary> {
  const able = run.kinds.filter(({ minNodes = 1 }) => run.nodes >= minNodes)
  const wantsDisk = able.some(({ needsSmallDisk }) => needsSmallDisk)
  const disk: SmallDisk | null = wantsDisk ? mountSmallDisk() : null
  const kinds = able.filter((kind) => {
    const reason =
      kind.missing?.() ?? (kind.needsSmallDisk && disk === null ? 'no file system can be mounted here' : null)
    if (reason !== null) say(`left out: ${kind.name}, because ${reason}`)
    return reason === null
  })
  say(`${run.nodes} node(s), seed ${run.seed}, ${kinds.length} kinds, ${run.seconds} s at ${run.rate}/s`)
  try {
    const { summary } = await perform(
      { ...run, kinds },
      {
        folder: join(folder, `nodes-${run.nodes}-seed-${run.seed}`),
        databaseFolder: disk?.path,
        isLong,
        ending: ending.signal,
        signal: interrupted.signal,
        onProgress: say,
      },
    )
    return summary
  } finally {
    disk?.unmount()
  }
}

function listKinds(): void {
  for (const { name, summary, missing, known = [], ...kind } of KINDS) {
    const needs = [
      ...(kind.minNodes === undefined ? [] : [`${kind.minNodes} nodes`]),
      ...(kind.needsStandby ? ['a standby'] : []),
      ...(missing?.() ? [`left out here: ${missing()}`] : []),
      ...(known.length > 0 ? [`known: ${known.join(', ')}`] : []),
    ]
    process.stdout.write(`${name.padEnd(24)} ${summary}${needs.length > 0 ? ` [${needs.join('; ')}]` : ''}\n`)
  }
}

async function main(options: FaultOptions): Promise<void> {
  if (options.form === 'list') return listKinds()
  if (options.form === 'merge') {
    const summaries = options.files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Summary[])
    process.stdout.write(tables(summaries))
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'aldis-faults-'))
  const summaries: Summary[] = []
  for (const run of runsOf(options)) {
    if (ending.signal.aborted) break
    summaries.push(await performHere(run, folder, options.form === 'long'))
    if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(summaries, null, 1)}\n`)
  }
  process.stdout.write(tables(summaries))
  let isGood =
    !ending.signal.aborted && summaries.every(({ unexpected, isSettled }) => unexpected === 0 && isSettled)
  for (const { findings } of summaries)
    for (const { kind, rule, subject, isKnown } of findings)
      if (!isKnown) process.stdout.write(`found: ${kind}: ${rule}: ${subject}\n`)
  if (options.form === 'short' && !ending.signal.aborted)
    for (const { name, lost, isReported } of await runControls(folder, interrupted.signal, say)) {
      process.stdout.write(
        `control, ${name}: ${lost} reported as lost${isReported ? '' : ', which is wrong'}\n`,
      )
      isGood &&= isReported
    }
  if (isGood) rmSync(folder, { recursive: true, force: true })
  else process.stdout.write(`The logs of the nodes are in ${folder}.\n`)
  process.exitCode = isGood ? 0 : 1
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options !== null) await main(options)
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`)
  process.exitCode = 1
}
// Resources that a failed run has left open must not keep the process alive.
process.exit()
