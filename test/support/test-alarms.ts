import { randomUUID } from 'node:crypto'
import { operatorPolicy } from '../../src/domain/webhooks/callback-url.ts'
import { formatWebhookSecret } from '../../src/domain/webhooks/requests.ts'
import { TestAlarms } from '../../src/operations/send-tests.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { sendWebhook } from '../../src/outbound/webhook-post.ts'
import { WebhookSockets } from '../../src/outbound/webhook-sockets.ts'
import { UNWATCHED } from './outbound-network.ts'

/** Test alarms that are really sent, through sockets of their own. */
export function testAlarmsTo(url: string) {
  const sockets = new WebhookSockets(new CallbackGuard(operatorPolicy(url), new NameResolver()))
  const account = { webhookSecrets: [formatWebhookSecret(new Uint8Array(32))], webhookHeaders: {} }
  const testAlarms = new TestAlarms({
    url,
    post: (webhook) => sendWebhook(sockets, account, webhook, UNWATCHED),
    installation: null,
    clock: Date.now,
    newId: randomUUID,
  })
  return { testAlarms, close: () => sockets.destroy() }
}
