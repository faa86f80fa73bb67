import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `aldis dev` remembers from one start to the next, in its data directory. */
export interface DevState {
  readonly secretKey: string
  readonly operatorToken: string
  readonly accountId: string
  readonly servicePlanId: string
  /** Null until it is issued. */
  readonly token: string | null
  /** Null before the first start, like what follows. */
  readonly baseUrl: string | null
  /** Where webhooks are received. */
  readonly listenUrl: string | null
  /** The inbound URL that the plan was given. With strict callbacks it is null too. */
  readonly inboundUrl: string | null
}

const FILE = 'dev.json'

/** The state of a directory that is there, or a new one. @throws Error in one line when it cannot be used. */
export function openDevState(dataDir: string): DevState {
  const known = readDevState(dataDir)
  if (known !== null) return known
  const state: DevState = {
    secretKey: randomBytes(32).toString('hex'),
    operatorToken: `operator_${randomBytes(24).toString('base64url')}`,
    accountId: randomBytes(12).toString('hex'),
    servicePlanId: randomBytes(12).toString('hex'),
    token: null,
    baseUrl: null,
    listenUrl: null,
    inboundUrl: null,
  }
  saveDevState(dataDir, state)
  return state
}

/** Null when nothing was ever started there. @throws Error in one line when the file cannot be read. */
export function readDevState(dataDir: string): DevState | null {
  const path = join(dataDir, FILE)
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DevState
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`cannot read ${path}: ${(error as Error).message}`)
  }
}

export function saveDevState(dataDir: string, state: DevState): void {
  writeWhole(join(dataDir, FILE), state)
}

/**
 * Writes JSON so that a crash leaves the old file or the new one, and a reader sees all of it. Readable by its owner
 * only. @throws Error in one line
 */
export function writeWhole(path: string, value: object): void {
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    throw new Error(`cannot write ${path}: ${(error as Error).message}`)
  }
}

/** @throws Error in one line when there is something else than a file, or it may not be removed. */
export function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    throw new Error(`cannot write ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
}
