import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Asks the other workers, and says how many have answered. */
const PROGRAM = `
  import { Parent } from ${JSON.stringify(new URL('../../src/commands/worker-parent.ts', import.meta.url))}
  const parent = new Parent({ stop: () => process.exit() }, 100)
  const answers = await parent.askOthers({ what: 'receipts', receipts: '[]' })
  parent.send({ kind: 'failed', reason: answers.length + ' answers' })`

test('a worker does not wait for ever for a parent that stands still: nobody has answered', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'aldis-parent-'))
  const program = join(directory, 'worker.mjs')
  await writeFile(program, PROGRAM)
  const worker = fork(program)
  try {
    expect((await once(worker, 'message'))[0]).toMatchObject({ kind: 'ask-others' })
    expect((await once(worker, 'message'))[0]).toEqual({ kind: 'failed', reason: '0 answers' })
  } finally {
    worker.kill()
    await once(worker, 'exit')
    await rm(directory, { recursive: true })
  }
})
