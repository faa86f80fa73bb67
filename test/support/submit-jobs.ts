/** Messages on their way to a carrier, without a database. */
import { randomBytes } from 'node:crypto'
import type { Carrier } from '../../src/domain/configuration/configuration.ts'
import { messageId } from '../../src/domain/identifiers.ts'
import type { Dispatch } from '../../src/domain/journal/messages-in-progress.ts'
import { type SubmitJob, submitJob } from '../../src/services/sending/submit-job.ts'
import { aCarrier } from './directory.ts'

export function aDispatch(changes: Partial<Dispatch> = {}): Dispatch {
  return {
    planId: 1,
    msgId: messageId(Date.now(), randomBytes(9), 0),
    sender: 'Aldis',
    recipient: '+15551230000',
    body: 'hello',
    segments: 1,
    failedAttempts: 0,
    acceptedPduBits: 0n,
    segmentation: null,
    startedOver: false,
    deliveredBits: 0n,
    status: 'QUEUED',
    ambiguous: false,
    carrierId: null,
    optedOut: false,
    expiresAtMs: Date.now() + 86_400_000,
    ...changes,
  }
}

export function aJob(dispatch: Partial<Dispatch> = {}, carrier: Carrier = aCarrier()): SubmitJob {
  const route = { id: 1, reason: 'only carrier' }
  return submitJob(aDispatch(dispatch), { carrier, route })
}
