import { rmSync } from 'node:fs'
import { type FileHandle, mkdtemp, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, parse } from 'node:path'
import { classifySender } from '../../domain/messages/addresses.ts'
import { type Fields, printAnswer, printJson, shownText } from '../admin/printing.ts'
import { onStopSignal } from '../running.ts'
import { checkLines, type Sampled, type Summary, sampleCountries } from './campaign-check.ts'
import { type Campaign, type CampaignLine, campaignLines } from './campaign-lines.ts'
import { EarlierResults, MOST_UNRECORDED, ResultFile, readResults } from './result-file.ts'
import type { Access } from './send-attempts.ts'
import { figure, ProgressLine, SendRun } from './send-run.ts'

/** `aldis send --csv`. */

export interface FileFlags {
  readonly csv: string
  readonly plan: string
  readonly from: string
  readonly text?: string
  readonly callbackUrl?: string
  readonly results?: string
  readonly resume?: true
  readonly retryRefused?: true
  readonly allowRepeats?: true
  readonly campaign?: string
  readonly dryRun?: true
  readonly rate?: number
  readonly inFlight: number
  readonly json?: true
}

/** Less than the 24 h for which the service knows a key: requests may have been made some minutes before the last result. */
const SURELY_KNOWN_MS = 23 * 3_600_000
/** As a shell says that SIGINT ended a command. */
const PAUSED = 130

export async function sendFile(access: Access, flags: FileFlags): Promise<void> {
  const campaign = campaignOf(flags)
  const path = resultPath(flags)
  const earlier = await earlierResults(path, flags)
  const file = await openInput(flags.csv)
  try {
    const summary = await checkLines(campaign.file, campaignLines(file, campaign), earlier)
    const sampled = await sampleCountries(access, summary)
    if (flags.dryRun) return printCheck(flags, earlier, summary, sampled)
    refuseHopeless(sampled)
    await sendAll(access, flags, {
      lines: unchanged(campaign, campaignLines(file, campaign)),
      earlier,
      results: await ResultFile.open(path, { continues: flags.resume === true }),
      path,
      messages: summary.messages,
    })
  } finally {
    await file.close()
  }
}

function campaignOf({ csv, campaign, plan, from, text, callbackUrl }: FileFlags): Campaign {
  if (classifySender(from) === null)
    throw new Error('--from must be a short code, an E.164 number or an alphanumeric sender')
  const file = csv === '-' ? 'standard input' : csv
  return { file, name: campaign ?? basename(csv), servicePlanId: plan.toLowerCase(), from, text, callbackUrl }
}

/** `lists/numbers.csv` -> `lists/numbers.results.csv` */
function resultPath({ csv, results }: FileFlags): string {
  if (results !== undefined) return results
  if (csv === '-') throw new Error('--results is needed with standard input')
  const { dir, name } = parse(csv)
  return join(dir, `${name}.results.csv`)
}

async function earlierResults(path: string, flags: FileFlags): Promise<EarlierResults> {
  const retriesRefused = flags.retryRefused === true
  const earlier = await readResults(path, retriesRefused)
  if (earlier === null && flags.resume) throw new Error(`${path} does not exist: there is no run to continue`)
  if (earlier === null || (flags.dryRun && !flags.resume)) return new EarlierResults(retriesRefused)
  if (!flags.resume)
    throw new Error(`${path} exists: continue that run with --resume, or name another file with --results`)
  const { brokenOffAt } = earlier
  if (brokenOffAt !== null && Date.now() - brokenOffAt.getTime() > SURELY_KNOWN_MS && !flags.allowRepeats)
    throw new Error(
      `the last run broke off at ${brokenOffAt.toISOString()}, more than 23 h ago. It may have sent lines that are not in ` +
        `${path}, and the service would no longer notice a repetition. --allow-repeats sends them nevertheless`,
    )
  return earlier
}

/** What can be read only once is kept in a file that has no name, so that nothing is left of it. */
async function openInput(csv: string): Promise<FileHandle> {
  const file = csv === '-' ? null : await openFile(csv)
  const stat = await file?.stat()
  if (stat?.isDirectory()) {
    await file!.close()
    throw new Error(`${csv} is a folder`)
  }
  if (file !== null && stat?.isFile()) return file
  const folder = await mkdtemp(join(tmpdir(), 'aldis-send-'))
  const copy = await open(join(folder, 'input.csv'), 'wx+', 0o600)
  rmSync(folder, { recursive: true })
  await copy.writeFile(file?.createReadStream() ?? process.stdin)
  return copy
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (error) {
    throw new Error(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}

/** The lines as they were checked. */
async function* unchanged(
  { file }: Campaign,
  lines: AsyncIterable<CampaignLine>,
): AsyncGenerator<CampaignLine> {
  for await (const line of lines) {
    if (line.faults.length > 0) throw new Error(`${file} was changed while it was read`)
    yield line
  }
}

function printCheck(flags: FileFlags, earlier: EarlierResults, summary: Summary, sampled: Sampled[]): void {
  const { messages } = summary
  const segments = sampled.reduce((total, country) => total + country.segments, 0)
  const before = flags.resume ? { alreadyAccepted: earlier.accepted, alreadyRefused: earlier.refused } : {}
  const answer: Fields = { messages, segments, ...before, countries: sampled }
  if (flags.json) printJson(answer)
  else printAnswer(answer, { countries: 'country messages segments ucs2 line route price refusal' })
}

/** What is refused for one country may be sent to another. */
function refuseHopeless(sampled: readonly Sampled[]): void {
  const [first] = sampled
  if (first !== undefined && sampled.every(({ refusal }) => refusal !== null))
    throw new Error(`nothing was sent, because messages would be refused with ${first.refusal}`)
}

interface Sending {
  readonly lines: AsyncGenerator<CampaignLine>
  readonly earlier: EarlierResults
  readonly results: ResultFile
  readonly path: string
  readonly messages: number
}

async function sendAll(access: Access, flags: FileFlags, sending: Sending): Promise<void> {
  const { path, messages, ...what } = sending
  const { rate: perSecond, inFlight, json = false } = flags
  using stopping = stopOnSignal(json)
  const run = new SendRun({
    access,
    ...what,
    perSecond,
    inFlight,

    signal: stopping.signal,
  })
  const progress = new ProgressLine(run, messages, json)
  let isRecorded = false
  try {
    await run.run()
    const isThrough = run.trouble === null && !stopping.signal.aborted
    const hasCaughtUp = isThrough || run.accepted + run.refused >= MOST_UNRECORDED
    isRecorded = run.unanswered === 0 && (sending.earlier.brokenOffAt === null || hasCaughtUp)
  } finally {
    progress.close()
    await sending.results.close(isRecorded)
  }
  const isPaused = stopping.signal.aborted || run.trouble !== null
  const end = progress.progress(isPaused ? 'paused' : 'finished')
  if (json) process.stdout.write(`${JSON.stringify({ ...end, trouble: run.trouble, results: path })}\n`)
  else process.stdout.write(`${endText(run, path)}\n`)
  process.exitCode = stopping.signal.aborted ? PAUSED : run.trouble !== null || run.refused > 0 ? 1 : 0
  if (isPaused) process.stderr.write(pauseText(run, isRecorded))
}

function endText({ accepted, repeated, refused }: SendRun, path: string): string {
  const before = repeated === 0 ? '' : ` (${figure(repeated)} of them had been accepted before)`
  return `${figure(accepted)} accepted${before}, ${figure(refused)} refused; results in ${path}`
}

function pauseText({ trouble }: SendRun, isRecorded: boolean): string {
  const why = trouble === null ? '' : `: ${shownText(trouble)}`
  const soon = isRecorded ? '' : ' within 23 h, because some requests were not answered'
  return `Paused${why}. To continue, repeat the command with --resume${soon}.\n`
}

/** The first signal lets requests in flight finish. */
function stopOnSignal(json: boolean): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  const stop = () => {
    if (!json)
      process.stderr.write(
        '\nPausing, as soon as requests in flight are answered. Ctrl-C again, after a second, ends at once.\n',
      )
    controller.abort()
  }
  return { signal: controller.signal, ...onStopSignal(stop) }
}
