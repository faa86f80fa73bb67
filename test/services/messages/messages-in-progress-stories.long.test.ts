import { test } from 'vitest'
import { installedDatabase } from '../../support/installation.ts'
import { tellDespiteLoss, tellEachOnce } from './messages-in-progress-stories.ts'

const installed = await installedDatabase({ poolSize: 8 })

/** The short form, messages-in-progress-stories.test.ts, tells half as many stories, of one seed each. */

test.each([1, 2])('whatever comes between, a message is told of each change once, in order: %i', (seed) =>
  tellEachOnce(installed, seed, 120),
)

test.each([3, 4])('so it is where the lane is lost meanwhile, and recovered by another node: %i', (seed) =>
  tellDespiteLoss(installed, seed, 120),
)
