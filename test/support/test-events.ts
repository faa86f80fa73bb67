import { randomBytes } from 'node:crypto'
import type { SecretKeys } from '../../src/domain/secrets.ts'
import { TestEvents } from '../../src/operations/send-tests.ts'
import type { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { sendWebhook } from '../../src/outbound/webhook-post.ts'
import { WebhookSockets } from '../../src/outbound/webhook-sockets.ts'
import { UNWATCHED } from './outbound-network.ts'

interface Options {
  readonly guard: CallbackGuard
  readonly secretKey?: SecretKeys
  readonly caPem?: string | undefined
  readonly clock?: () => number
}

/** Test events that are really sent, through sockets of their own. */
export function testEventsOf({ guard, secretKey = randomBytes(32), caPem, clock = Date.now }: Options) {
  const sockets = new WebhookSockets(guard, { caPem })
  const testEvents = new TestEvents({
    post: (account, webhook) => sendWebhook(sockets, account, webhook, UNWATCHED),
    guard,
    secretKey,
    clock,
    random: randomBytes,
  })
  return { testEvents, close: () => sockets.destroy() }
}
