import { expect, test } from 'vitest'
import { ROOT, start } from '../support/process.ts'

test('two nodes are upgraded, rolled back and upgraded again under load, and nothing is lost', async () => {
  const drill = ['test/faults/upgrade.ts', '--nodes', '2', '--side', '2', '--rate', '100']
  await using running = start(process.execPath, drill, { cwd: ROOT })
  expect(await running.exited).toMatchObject({ code: 0 })
})
