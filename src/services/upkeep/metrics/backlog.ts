import { Gauge, type Registry } from 'prom-client'
import { type Backlog, type WaitingMessages, WEBHOOK_CAUSES } from '../../../domain/backlog.ts'
import type { BacklogWatch } from '../backlog-watch.ts'
import { readForScrape } from './database.ts'

const OF_ALL = 'of all nodes, the same on each; at most some 20,000 due and 20,000 later ones are counted'

/**
 * Gauges of the backlog. Labels: routes and carriers of the configuration, at most 200 series with the rest as `other`, and
 * causes from closed lists. Rows in the database are counted at most every 10 s. While they cannot be counted there is no
 * series.
 */
export function backlogMetrics(registry: Registry, watch: BacklogWatch): void {
  new Gauge({
    name: 'aldis_messages_in_memory',
    help: 'messages in the memory of this node, by why they are there',
    labelNames: ['route', 'carrier', 'cause'] as const,
    registers: [registry],
    collect() {
      showMessages(this, watch.held())
    },
  })
  waitingMetrics(registry, watch)
}

function waitingMetrics(registry: Registry, watch: BacklogWatch): void {
  const ofDatabase = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    show: (gauge: Gauge<Label>, backlog: Backlog) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const backlog = await readForScrape(watch.read())
        this.reset()
        if (backlog !== null) show(this, backlog)
      },
    })
  ofDatabase(
    'aldis_messages_waiting',
    `messages in the database, ${OF_ALL}`,
    ['route', 'carrier', 'cause'],
    (gauge, { waiting }) => showMessages(gauge, waiting),
  )
  ofDatabase(
    'aldis_messages_oldest_seconds',
    'age of the oldest message in the memory of this node, and among those counted in the database, by route',
    ['place', 'route'],
    (gauge, { held, waiting }) => {
      showOldest(gauge, 'memory', held)
      showOldest(gauge, 'database', waiting)
    },
  )
  ofDatabase(
    'aldis_webhooks_waiting',
    `webhook events in the database, ${OF_ALL}`,
    ['cause'],
    (gauge, { webhooks }) => {
      for (const cause of WEBHOOK_CAUSES)
        gauge.set({ cause }, webhooks.find((row) => row.cause === cause)?.count ?? 0)
    },
  )
  ofDatabase(
    'aldis_webhooks_oldest_seconds',
    'time since the oldest of these was first to be delivered',
    ['cause'],
    (gauge, { webhooks }) => {
      for (const cause of WEBHOOK_CAUSES)
        gauge.set({ cause }, oldestSeconds(webhooks.filter((row) => row.cause === cause)))
    },
  )
  ofDatabase(
    'aldis_backlog_truncated',
    '1 where more wait in the database than were counted',
    ['what'],
    (gauge, { more }) => {
      gauge.set({ what: 'messages' }, Number(more.messages))
      gauge.set({ what: 'webhooks' }, Number(more.webhooks))
    },
  )
}

function showMessages(gauge: Gauge<'route' | 'carrier' | 'cause'>, rows: readonly WaitingMessages[]): void {
  gauge.reset()
  for (const { route, carrier, cause, count } of rows)
    gauge.set({ route: route ?? '', carrier: carrier ?? '', cause }, count)
}

function showOldest(gauge: Gauge<'place' | 'route'>, place: string, rows: readonly WaitingMessages[]): void {
  for (const [route, own] of Map.groupBy(rows, (row) => row.route ?? ''))
    gauge.set({ place, route }, oldestSeconds(own))
}

/** 0 if nothing waits. A clock that was set back makes no negative age. */
function oldestSeconds(rows: readonly { readonly oldestMs: number }[]): number {
  return Math.max(0, ...rows.map(({ oldestMs }) => (Date.now() - oldestMs) / 1_000))
}
