import { Registry } from 'prom-client'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ChangedMessage } from '../../../src/domain/journal/messages-in-progress.ts'
import type { Status } from '../../../src/domain/messages/messages.ts'
import { qualityMeters } from '../../../src/services/quality/quality-meters.ts'
import { QualityWatch, type QualityWatchOptions } from '../../../src/services/quality/quality-watch.ts'
import { endPause, sumQuality } from '../../../src/store/quality.ts'
import { aCarrier, aDirectory, aRoute } from '../../support/directory.ts'
import { otherPool } from '../../support/installation.ts'
import { KeptLog } from '../../support/log.ts'
import { FLOOR, watchedCarriers } from '../../support/watched-carriers.ts'

const MINUTE_MS = 60_000
const NOW_MS = Date.UTC(2026, 2, 10, 12)

const { db, connectionString, carriers, routes } = await watchedCarriers()
const [acme, backup] = carriers
const [routeId] = routes
const directory = aDirectory({
  carriers: [aCarrier({ id: acme, name: 'acme' }), aCarrier({ id: backup, name: 'backup' })],
  routes: [
    aRoute({
      id: routeId,
      name: 'watched',
      carriers: carriers.map((carrierId) => ({ carrierId, priority: 0, weight: 1 })),
      qualityFloor: FLOOR,
    }),
  ],
})
let nowMs = NOW_MS

beforeEach(async () => {
  nowMs = NOW_MS
  await db.query('truncate quality_minutes, carrier_pauses')
})

function watch(given: Partial<QualityWatchOptions> = {}) {
  const registry = new Registry()
  const log = new KeptLog()
  const quality = new QualityWatch({
    db,
    directory: () => directory,
    meters: qualityMeters(registry),
    clock: () => nowMs,
    log,
    ...given,
  })
  return { quality, registry, log }
}

/** Messages of acme, sent a while ago and with a status now. */
function messages(count: number, status: Status, changes: Partial<ChangedMessage> = {}): ChangedMessage[] {
  const sentAt = new Date(nowMs - 5_000)
  const sequence = status === 'SENT' ? 1 : 2
  const message = {
    status,
    sentAt,
    updatedAt: new Date(nowMs),
    carrierId: acme,
    routeId,
    sequence,
    ...changes,
  }
  return Array.from({ length: count }, () => message as ChangedMessage)
}

async function sums() {
  const from = new Date(nowMs - 60 * MINUTE_MS)
  return await sumQuality(db, { from, missingBefore: new Date(nowMs), carrierId: null, routeId: null }, 10)
}

describe('counting', () => {
  test('what several nodes saw is one sum, and nothing is counted twice', async () => {
    await using other = otherPool(connectionString)
    const nodes = [watch().quality, watch({ db: other.db }).quality]
    for (const node of nodes) {
      node.submitted({ carrierId: acme, routeId, result: 'accepted', latencyMs: 30 })
      node.submitted({ carrierId: acme, routeId, result: 'noAnswer', latencyMs: null })
      node.changed([...messages(3, 'SENT'), ...messages(2, 'DELIVERED'), ...messages(1, 'FAILED')])
    }
    await Promise.all(nodes.map((node) => node.runOnce()))
    await Promise.all(nodes.map((node) => node.stop()))
    expect(await sums()).toMatchObject([
      { carrier: 'acme', accepted: 2, noAnswer: 2, sent: 6, delivered: 4, failed: 2, unknown: 0 },
    ])
  })

  test('a receipt goes to the minute its message was sent in, after an UNKNOWN too', async () => {
    const { quality } = watch()
    quality.changed(messages(2, 'SENT'))
    quality.changed(messages(2, 'UNKNOWN'))
    const sentAt = new Date(nowMs - 5_000)
    nowMs += 40 * MINUTE_MS
    quality.changed(messages(1, 'DELIVERED', { sentAt, sequence: 3 }))
    await quality.stop()
    const { rows } = await db.query('select sent, delivered, unknown from quality_minutes')
    expect(rows).toEqual([{ sent: 2, delivered: 1, unknown: 1 }])
  })

  test('a receipt after the message was overdue is its first', async () => {
    const { quality } = watch()
    const sentAt = new Date(nowMs - 73 * 60 * MINUTE_MS)
    quality.changed(messages(1, 'DELIVERED', { sentAt, sequence: 3 }))
    await quality.stop()
    const { rows } = await db.query('select delivered, unknown from quality_minutes')
    expect(rows).toEqual([{ delivered: 1, unknown: 0 }])
  })

  test('receipts are missing of the hour before the last ten minutes', async () => {
    const { quality } = watch()
    const sent = (count: number, ageMinutes: number) =>
      quality.changed(messages(count, 'SENT', { sentAt: new Date(nowMs - ageMinutes * MINUTE_MS) }))
    for (const [count, ageMinutes] of [
      [1, 10],
      [2, 11],
      [4, 70],
      [8, 71],
    ] as const)
      sent(count, ageMinutes)
    quality.changed(messages(1, 'FAILED', { sentAt: new Date(nowMs - 11 * MINUTE_MS) }))
    await quality.stop()
    expect(await quality.missingReceipts()).toEqual([{ carrier: 'acme', sent: 6, missing: 5 }])
  })

  test('what no carrier took, what went by no route and what a deleted carrier did is not in the table', async () => {
    const { quality } = watch()
    quality.changed(messages(1, 'FAILED', { sentAt: null }))
    quality.changed(messages(1, 'FAILED', { carrierId: null }))
    quality.changed(messages(1, 'FAILED', { carrierId: 1_000_000 }))
    quality.changed(messages(1, 'DELIVERED', { routeId: null }))
    quality.submitted({ carrierId: 1_000_000, routeId, result: 'refused', latencyMs: 1 })
    await quality.stop()
    expect(await sums()).toEqual([])
  })

  test('metrics say it by carrier, each counter from 0 on', async () => {
    const { quality, registry } = watch()
    quality.submitted({ carrierId: acme, routeId, result: 'refused', latencyMs: 1 })
    quality.submitted({ carrierId: acme, routeId, result: 'noAnswer', latencyMs: null })
    quality.changed(messages(1, 'DELIVERED', { routeId: null }))
    const text = await registry.metrics()
    expect(text).toContain('aldis_submits_total{carrier="acme",result="refused"} 1')
    expect(text).toContain('aldis_submits_total{carrier="acme",result="noAnswer"} 1')
    expect(text).toContain('aldis_submits_total{carrier="acme",result="accepted"} 0')
    expect(text).toContain('aldis_final_receipts_total{carrier="acme",result="delivered"} 1')
    expect(text).toContain('aldis_final_receipts_total{carrier="acme",result="failed"} 0')
    expect(text).toContain('aldis_submit_latency_seconds_bucket{le="0.001",carrier="acme"} 1')
    expect(text).toContain('aldis_submit_latency_seconds_count{carrier="acme"} 1')
    expect(text).toContain('aldis_receipt_latency_seconds_sum{carrier="acme"} 5')
  })

  test('while the database does not answer counts are kept', async () => {
    const { quality } = watch()
    quality.submitted({ carrierId: acme, routeId, result: 'accepted', latencyMs: 30 })
    await db.query('alter table quality_minutes rename to elsewhere')
    await expect(quality.runOnce()).rejects.toThrow('quality_minutes')
    await db.query('alter table elsewhere rename to quality_minutes')
    quality.submitted({ carrierId: acme, routeId, result: 'accepted', latencyMs: 50 })
    await quality.runOnce()
    expect(await sums()).toMatchObject([{ accepted: 2, submitLatencyMaxMs: 50 }])
  })
})

describe('the floor', () => {
  test('takes a carrier out of use on every node, once, and after a restart', async () => {
    await using other = otherPool(connectionString)
    const nodes = [watch(), watch({ db: other.db })]
    // Neither node has seen enough to judge by itself.
    for (const { quality } of nodes) quality.changed([...messages(3, 'DELIVERED'), ...messages(4, 'FAILED')])
    for (const { quality } of nodes) await quality.runOnce()
    for (const { quality } of nodes) await quality.runOnce()
    for (const { quality } of nodes) {
      expect(quality.outOfUse(routeId, acme)).toBe(true)
      expect(quality.outOfUse(routeId, backup)).toBe(false)
      expect(quality.outOfUse(routeId + 1, acme)).toBe(false)
      expect([...quality.outOfUseRoutes()]).toEqual([['acme', 1]])
    }
    const message = 'carrier out of use in a route: below its quality floor'
    const reason = 'delivered 6 of 14 (42.9 %) in 60 min, floor 80 %'
    expect(nodes.flatMap(({ log }) => log.lines)).toEqual([
      { level: 'warn', message, carrier: 'acme', route: 'watched', minutes: 15, reason },
    ])
    const { quality: restarted } = watch()
    await restarted.start()
    expect(restarted.outOfUse(routeId, acme)).toBe(true)
    await restarted.stop()
  })

  test('is judged anew after the pause, by what was sent since', async () => {
    const { quality, log } = watch()
    quality.changed(messages(20, 'FAILED'))
    await quality.runOnce()
    // A pause that ends in the midst of a minute: that minute has messages from before.
    nowMs += 15 * MINUTE_MS
    expect(quality.outOfUse(routeId, acme)).toBe(false)
    await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(false)
    nowMs += MINUTE_MS
    quality.changed(messages(9, 'FAILED', { sentAt: new Date(nowMs) }))
    await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(false)
    quality.changed(messages(1, 'FAILED', { sentAt: new Date(nowMs) }))
    await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(true)
    expect(log.lines).toHaveLength(2)
  })

  test('an operator puts a carrier back into use: the figures so far do not take it out again', async () => {
    const { quality } = watch()
    quality.changed(messages(20, 'FAILED'))
    await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(true)
    nowMs += 1_000
    const ended = await endPause(db, { route: 'watched', carrier: 'acme' }, new Date(nowMs))
    expect(ended).toMatchObject({ routeId, carrierId: acme })
    for (let round = 0; round < 2; round += 1) await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(false)
    quality.changed(messages(20, 'FAILED', { sentAt: new Date(nowMs + MINUTE_MS) }))
    await quality.runOnce()
    expect(quality.outOfUse(routeId, acme)).toBe(true)
  })
})
