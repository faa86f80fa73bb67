import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SANDBOX } from '../domain/sandbox.ts'
import { AdminRefusal, type ConnectionOptions, requestAdmin } from './admin/client.ts'

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

export const DEV_SENDER = 'Aldis'
export const DEV_INBOUND_NUMBER = '+15550001000'

/**
 * Sets up what a newcomer needs, through the admin API like anybody else: one account, a sandbox plan, a token, an approved
 * sender and an inbound number. Existing objects are left alone, with two exceptions: the simulated carrier is started,
 * because nothing would be sent otherwise, and the inbound URL is set if it is new. Returns the token.
 */
export async function seed(
  connection: ConnectionOptions,
  state: DevState,
  hasNewInboundUrl: boolean,
): Promise<string> {
  const { accountId, servicePlanId, inboundUrl } = state
  const create = async (path: string, body: object) => {
    try {
      await requestAdmin(connection, 'POST', path, body)
    } catch (error) {
      if (!(error instanceof AdminRefusal) || error.status !== 409) throw error
    }
  }
  await create('/accounts', { accountId, name: 'Development' })
  await create('/service-plans', {
    servicePlanId,
    accountId,
    name: 'Development',
    sandbox: true,
    inboundUrl,
  })
  // Only what differs is written: each change is a row of the audit log.
  const ensure = async (method: 'PATCH' | 'PUT', path: string, wanted: Readonly<Record<string, string>>) => {
    const present = await presentOf(connection, path)
    if (Object.entries(wanted).some(([field, value]) => present[field] !== value))
      await requestAdmin(connection, method, path, wanted)
  }
  await ensure('PATCH', `/carriers/${SANDBOX}`, { state: 'started' })
  if (hasNewInboundUrl)
    await requestAdmin(connection, 'PATCH', `/service-plans/${servicePlanId}`, { inboundUrl })
  await ensure('PUT', `/service-plans/${servicePlanId}/senders/${DEV_SENDER}`, { status: 'approved' })
  await create('/inbound-numbers', { number: DEV_INBOUND_NUMBER, servicePlanId, keywords: ['HELLO'] })
  if (state.token !== null) return state.token
  const issued = await requestAdmin(connection, 'POST', '/tokens', { accountId, name: 'Development' })
  return (issued as { token: string }).token
}

/** An object of the admin API; empty if there is none. */
async function presentOf(connection: ConnectionOptions, path: string): Promise<Record<string, unknown>> {
  try {
    return (await requestAdmin(connection, 'GET', path)) as Record<string, unknown>
  } catch (error) {
    if (error instanceof AdminRefusal && error.status === 404) return {}
    throw error
  }
}
