import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin } from './admin-client.ts'
import { printJson } from './printing.ts'
import { addAction } from './resource.ts'

interface Progress {
  readonly resealed: number
  readonly unreadable: number
  readonly pending: number
  readonly scanned: number
  readonly keyId: string
  readonly nextAfter: string | null
}

/** Adds `aldis secrets`: the change of SECRET_KEY. */
export function register(program: Command): void {
  const secrets = program.command('secrets').description('Secrets in the database, encrypted with SECRET_KEY')
  addAction(
    secrets,
    'reseal',
    'encrypt with SECRET_KEY what SECRET_KEY_PREVIOUS has encrypted; may be repeated',
  )
    .option('--after <position>', 'continue at the position that the interrupted run printed')
    .action(reseal)
}

async function reseal({ after, ...options }: ConnectionOptions & { after?: string }): Promise<void> {
  const sum = { resealed: 0, unreadable: 0, pending: 0, scanned: 0 }
  let keyId: string | undefined
  for (let next: string | null | undefined = after; next !== null; ) {
    const body = next === undefined ? {} : { after: next }
    const done = (await requestAdmin(options, 'POST', '/secrets/reseal', body)) as Progress
    keyId ??= done.keyId
    if (done.keyId !== keyId) {
      throw new Error(
        `nodes use different keys (${keyId}, ${done.keyId}): give all nodes the same SECRET_KEY, then repeat this`,
      )
    }
    sum.resealed += done.resealed
    sum.unreadable += done.unreadable
    sum.pending += done.pending
    sum.scanned += done.scanned
    next = done.nextAfter
    if (!options.json && next !== null) {
      process.stderr.write(
        `${sum.scanned} messages, ${sum.resealed} resealed; continues with --after ${next}\n`,
      )
    }
  }
  if (options.json) printJson(sum)
  else process.stdout.write(`${sum.resealed} secrets resealed, ${sum.scanned} messages looked at.\n`)
  const faults: string[] = []
  if (sum.unreadable > 0) faults.push(`${sum.unreadable} secrets are opened by neither key`)
  if (sum.pending > 0) faults.push(`${sum.pending} secrets kept changing and have the old key: repeat this`)
  if (faults.length > 0) throw new Error(faults.join('; '))
}
