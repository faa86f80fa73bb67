import { randomUUID } from 'node:crypto'
import { operatorPolicy } from '../domain/webhooks/callback-url.ts'
import type { Webhook } from '../domain/webhooks/requests.ts'
import { readAlarmConditions } from '../operations/read-alarms.ts'
import { TestAlarms } from '../operations/send-tests.ts'
import { CallbackGuard } from '../outbound/callback-guard.ts'
import { sendWebhook } from '../outbound/webhook-post.ts'
import { WebhookSockets } from '../outbound/webhook-sockets.ts'
import type { NodeLease } from '../services/node/node-lease.ts'
import type { NodeReports } from '../services/node/node-reports.ts'
import type { QualityWatch } from '../services/quality/quality-watch.ts'
import { AlarmWatch } from '../services/upkeep/alarm-watch.ts'
import type { BacklogWatch } from '../services/upkeep/backlog-watch.ts'
import type { AppOptions } from './options.ts'
import type { Platform } from './platform.ts'
import type { ShutdownStack } from './shutdown.ts'

interface Watched {
  readonly lease: NodeLease
  readonly reports: NodeReports
  readonly quality: QualityWatch
  readonly backlog: BacklogWatch
}

/** What is wrong, for those who ask; and, if there is an address, the watch that tells the operator of it, and its test. */
export function makeAlarms(
  options: AppOptions,
  shutdown: ShutdownStack,
  { databases, parts, resolver }: Platform,
  { lease, reports, quality, backlog }: Watched,
) {
  const { alarmWebhookUrl: url, alarmWebhookSecret: secret, alarmBacklogSeconds, log } = options
  const readAlarms = () =>
    readAlarmConditions({
      ...parts,
      reads: databases.reads,
      ownReport: () => reports.own(),
      backlog,
      quality,
      backlogSeconds: alarmBacklogSeconds,
    })
  if (url === undefined || secret === undefined) return { readAlarms, watch: null, testAlarms: null }
  // Not that of customers' webhooks, which must not reach the private address that this one may have.
  const sockets = new WebhookSockets(new CallbackGuard(operatorPolicy(url), resolver), {
    caPem: options.webhookCaPem,
  })
  const account = { webhookSecrets: [secret], webhookHeaders: {} }
  const sending = {
    lease: { untilMs: Number.POSITIVE_INFINITY },
    onDefect: (err: unknown) => log.error({ err }, 'alarm not sent'),
  }
  const post = (webhook: Webhook) => sendWebhook(sockets, account, webhook, sending)
  const watch = new AlarmWatch({
    ...parts,
    lease,
    readConditions: readAlarms,
    url,
    post,
    installation: options.baseUrl,
    timings: options.alarmTimings,
  })
  shutdown.add('alarms', async () => {
    await sockets.destroy()
    await watch.stop()
  })
  const testAlarms = new TestAlarms({
    url,
    post,
    installation: options.baseUrl,
    clock: parts.clock,
    newId: randomUUID,
  })
  return { readAlarms, watch, testAlarms }
}
