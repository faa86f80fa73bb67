import { test } from 'vitest'
import { installedDatabase } from '../../support/installation.ts'
import { tellDespiteLoss, tellEachOnce } from './messages-in-progress-stories.ts'

const installed = await installedDatabase({ poolSize: 8 })

test('whatever comes between, a message is told of each change once, in order', () =>
  tellEachOnce(installed, 1, 60))

test('so it is where the lane is lost meanwhile, and recovered by another node', () =>
  tellDespiteLoss(installed, 3, 60))
