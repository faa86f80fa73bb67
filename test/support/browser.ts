/**
 * Chromium of `@sparticuz/chromium`, which needs nothing of the machine. Only the program is its own: it is started as a
 * desktop browser, without what the package sets for functions in the cloud.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { ROOT } from './process.ts'
import { ramDiskHas } from './ram-disk.ts'

const CACHE = join(ROOT, 'node_modules', '.cache')
const PACKAGE = join(ROOT, 'node_modules', '@sparticuz', 'chromium', 'package.json')

const UNPACK = `
  const { default: chromium } = await import('@sparticuz/chromium')
  await chromium.executablePath()`

/** Unpacks the program once for this checkout. Whoever comes first puts it in place whole. */
function chromiumPath(): string {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
  const folder = join(CACHE, `chromium-${version}`)
  const program = join(folder, 'chromium')
  if (existsSync(program)) return program
  const fresh = mkdtempSync(`${folder}-`)
  const env = { ...process.env, TMPDIR: fresh }
  const args = ['--input-type=module', '--eval', UNPACK]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Chromium could not be unpacked: ${stderr}`)
  try {
    renameSync(fresh, folder)
  } catch {
    // Another process was first.
    rmSync(fresh, { recursive: true })
  }
  return program
}

/** Pages live for seconds: it costs more to optimise their code than it saves, a sixth of the CPU of a page that is looked over. */
const NO_OPTIMISING = '--js-flags=--no-turbofan,--no-maglev'

/** Processes of their own for drawing and for the network cost a tenth of what a page takes. */
const IN_MAIN_PROCESS = ['--in-process-gpu', '--enable-features=NetworkServiceInProcess2']

/** What the processes of a browser share is in memory where there is this much room; Playwright has it in files everywhere. */
const ROOM_BYTES = 1024 ** 3
const IN_FILES = '--disable-dev-shm-usage'

export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  // Tests run as root in containers, where its sandbox does not work. It opens pages of our own service only.
  return await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', ...args],
    ignoreDefaultArgs: ramDiskHas(ROOM_BYTES) ? [IN_FILES] : [],
  })
}

let shared: Promise<Browser> | undefined

/** One for all files of this process, which ends it. */
export function browserOfProcess(): Promise<Browser> {
  shared ??= startBrowser([NO_OPTIMISING, ...IN_MAIN_PROCESS])
  return shared
}
