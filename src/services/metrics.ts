import { Gauge, type Registry } from 'prom-client'
import type { Directory } from '../domain/directory.ts'
import type { CarrierLinks } from './carrier-links.ts'
import type { Recorder } from './recorder.ts'
import type { SubmitToken } from './submit-job.ts'
import type { Submitter } from './submitter.ts'
import type { WebhookDeliverer } from './webhook-deliverer.ts'

export interface MeasuredServices {
  readonly submitter: Submitter
  readonly recorder: Recorder
  readonly deliverer: WebhookDeliverer
  readonly links: CarrierLinks<SubmitToken>
  readonly directory: () => Directory
}

/** Gauges of what this node holds, read when they are scraped. No label names a number, a message or a tenant. */
export function serviceMetrics(registry: Registry, services: MeasuredServices): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  const { submitter, recorder, deliverer, links, directory } = services
  gauge('aldis_messages_held', 'messages in memory, to be submitted or under way', () => submitter.held)
  gauge('aldis_record_backlog', 'carrier outcomes not yet written to the database', () => recorder.backlog)
  gauge('aldis_webhook_events_held', 'webhook events in memory, waiting or under way', () => deliverer.held)
  gauge('aldis_submits_unanswered', 'submits whose response is awaited', () => links.unanswered)
  new Gauge({
    name: 'aldis_carrier_bound',
    help: '1 when the carrier has a bound link on this node',
    labelNames: ['carrier'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const carrier of directory().contents.carriers) {
        const bound = links.status(carrier.id).some((link) => link.boundSince !== null)
        this.set({ carrier: carrier.name }, bound ? 1 : 0)
      }
    },
  })
}
