import { expect, test } from 'vitest'
import type { PlanCaps, ServicePlan } from '../../../src/domain/configuration/configuration.ts'
import { CapShares } from '../../../src/services/limits/cap-shares.ts'
import { takeShares } from '../../../src/store/plan-usage.ts'
import { installedDatabase } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'

/** Shares of caps, where a node and its database meet. */

const { db, directory, announcedPlan, silentPlan } = await installedDatabase()

const begins = '2026-03-14'

test('a counter that begins takes nothing twice from those that it is asked for with', async () => {
  const share = { unit: 'messages', step: 'day', begins, most: 3, needed: 1 } as const
  const first = { planId: announcedPlan, ...share }
  const second = { planId: silentPlan, ...share }
  expect(await takeShares(db, [first])).toMatchObject([{ granted: 1, before: 0 }])
  expect(await takeShares(db, [second, first])).toMatchObject([
    { granted: 1, before: 0 },
    { granted: 1, before: 1 },
  ])
  expect(await takeShares(db, [first, second])).toMatchObject([
    { granted: 1, before: 2 },
    { granted: 1, before: 1 },
  ])
})

test('a lowered cap lets nothing through that its node took before', async () => {
  const shares = new CapShares({
    db,
    directory: () => directory,
    log: quietLog,
    clock: () => Date.parse('2026-03-15T12:00:00Z'),
    onReached: () => Promise.resolve(),
  })
  const takeOf = (messagesPerDay: number) => {
    const caps: PlanCaps = {
      messagesPerDay,
      messagesPerMonth: null,
      costPerDay: null,
      costPerMonth: null,
      currency: null,
    }
    const plan: ServicePlan = { ...directory.planById(announcedPlan)!, caps }
    return shares.take({ plan, recipient: '+15551230001', segments: 1 })
  }
  expect(await takeOf(1_000)).toMatchObject({ kind: 'counted' })
  expect(await takeOf(2)).toMatchObject({ kind: 'counted' })
  expect(await takeOf(2)).toMatchObject({ kind: 'refused', refusal: { code: 'CAP_REACHED' } })
  await shares.stop()
})
