import { followMessages } from './follow-messages.ts'
import { printJson } from './printing.ts'
import { type Call, type Part, parts } from './requests.ts'

/** Commands that need many requests, or do more with an answer than print it. */
export const ACTS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  redeliverWebhookEventsOfPlan: redeliverAll,
  resealSecrets: reseal,
}

/** Lists that can be followed with `--follow`. */
export const FOLLOWED: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  listMessagesOfPlans: followMessages,
}

async function redeliverAll(call: Call): Promise<void> {
  const done = call.body?.dryRun === true ? 'would be delivered again' : 'to be delivered again'
  let redelivered = 0
  for await (const { nextAfter, redelivered: more } of parts<Part & { redelivered: number }>(call)) {
    redelivered += more
    if (nextAfter !== null)
      process.stderr.write(`${redelivered} ${done}; continues with --after ${nextAfter}\n`)
  }
  if (call.options.json) printJson({ redelivered })
  else process.stdout.write(`${redelivered} ${done}\n`)
}

interface Progress extends Part {
  readonly resealed: number
  readonly unreadable: number
  readonly pending: number
  readonly scanned: number
  readonly keyId: string
}

/** Seals everything with the present SECRET_KEY, one bounded part after the other. */
async function reseal(call: Call): Promise<void> {
  const { json } = call.options
  const sum = { resealed: 0, unreadable: 0, pending: 0, scanned: 0 }
  let keyId: string | undefined
  for await (const done of parts<Progress>(call)) {
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
    if (!json && done.nextAfter !== null) {
      process.stderr.write(
        `${sum.scanned} messages, ${sum.resealed} resealed; continues with --after ${done.nextAfter}\n`,
      )
    }
  }
  if (json) printJson(sum)
  else process.stdout.write(`${sum.resealed} secrets resealed, ${sum.scanned} messages looked at.\n`)
  const faults: string[] = []
  if (sum.unreadable > 0) faults.push(`${sum.unreadable} secrets are opened by neither key`)
  if (sum.pending > 0) faults.push(`${sum.pending} secrets kept changing and have the old key: repeat this`)
  if (faults.length > 0) throw new Error(faults.join('; '))
}
