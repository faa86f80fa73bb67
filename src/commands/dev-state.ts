import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `aldis dev` remembers from one start to the next, in its data directory. */
export interface DevState {
  readonly secretKey: string
  readonly operatorToken: string
  readonly accountId: string
  readonly servicePlanId: string
  /** Null until it is issued. */
  token: string | null
  /** Port of the simulated carrier; null before the first start. */
  smppPort: number | null
}

const FILE = 'dev.json'

/** The state of the directory, or a new one. @throws Error in one line when the directory cannot be used. */
export function openDevState(dataDir: string): DevState {
  const known = readDevState(dataDir)
  if (known !== null) return known
  const state: DevState = {
    secretKey: randomBytes(32).toString('hex'),
    operatorToken: `operator_${randomBytes(24).toString('base64url')}`,
    accountId: randomBytes(12).toString('hex'),
    servicePlanId: randomBytes(12).toString('hex'),
    token: null,
    smppPort: null,
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

/** Replaces the file at once, so that a crash leaves the old one or the new one. Readable by its owner only. */
export function saveDevState(dataDir: string, state: DevState): void {
  const path = join(dataDir, FILE)
  try {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    throw new Error(`cannot write to the data directory ${dataDir}: ${(error as Error).message}`)
  }
}
