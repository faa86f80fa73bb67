import { casesSeconds, measureCases } from './cases.ts'
import { compare } from './comparison.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { Progress } from './progress.ts'
import { casesText, comparisonText, figuresText } from './report.ts'
import { INTERRUPTED, Rig } from './rig.ts'
import { measureAldis } from './single.ts'

/** `npm run bench`: measures Aldis, or Aldis and Kannel in turn. Exit code 1 when a run gave no figures. */

async function measure(options: BenchOptions): Promise<void> {
  const progress = new Progress(expectedSeconds(options))
  let current: Rig | null = null
  const newRig = () => {
    current = new Rig(options.tempDir, progress)
    return current
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => current?.fail(INTERRUPTED))
  const print = (figures: object, text: string) =>
    process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : text)
  if (options.cases.length > 0) {
    const figures = await measureCases(newRig, options)
    print(figures, casesText(figures))
    if (figures.failures.length > 0) process.exitCode = 1
  } else if (options.against === null) {
    const figures = await measureAldis(newRig, options)
    print(figures, figuresText(figures))
  } else {
    const figures = await compare(newRig, options)
    print(figures, comparisonText(figures))
  }
}

/** For the progress line; starts and drains by experience. */
function expectedSeconds(options: BenchOptions): number {
  const { seconds, warmUpSeconds, acceptSeconds, webhookSeconds, latencySeconds, pairs, against, records } =
    options
  if (options.cases.length > 0) return casesSeconds(options, 15 + seconds + warmUpSeconds)
  const run = 15 + seconds + warmUpSeconds + latencySeconds
  if (against !== null) return 2 * pairs * run
  const lists = records === 0 ? 0 : 300 + records / 50_000
  const queued = options.queued / 2_000
  const additions = options.additionMessages / 35_000
  return (
    run +
    lists +
    queued +
    additions +
    3 * acceptSeconds +
    (webhookSeconds === 0 ? 0 : 200 + 4 * webhookSeconds)
  )
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options !== null) await measure(options)
}

await main().catch((error: Error) => {
  process.exitCode = 1
  process.stderr.write(`error: no figures: ${error.message}\n`)
})
