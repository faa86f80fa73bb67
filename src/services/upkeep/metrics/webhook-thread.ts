import { Gauge, type Registry } from 'prom-client'
import type { ThreadLoad } from '../../../outbound/thread-messages.ts'
import type { WebhookSender } from '../../../outbound/webhook-sender.ts'

/** How busy the thread that sends webhooks is. Node's own figures are those of the main thread. */
export function webhookThreadMetrics(registry: Registry, sender: Pick<WebhookSender, 'measure'>): void {
  const gauge = (name: string, help: string, read: (load: ThreadLoad) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(read(await sender.measure()))
      },
    })
  const since = 'of the thread that sends webhooks, since the last scrape'
  gauge('aldis_webhook_thread_lag_p99_seconds', `event loop lag ${since}`, ({ lagP99 }) => lagP99)
  gauge('aldis_webhook_thread_utilization', `busy share ${since}`, ({ utilization }) => utilization)
}
