import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WorkerProcess } from '../../src/commands/worker-process.ts'
import { eventually } from '../support/eventually.ts'

/**
 * Answers every question as soon as it is asked, but for receipts: when the next other question comes. Says until then that it
 * is working on receipts that are `slow`.
 */
const PROGRAM = `
  const late = []
  process.on('message', ({ kind, id, question }) => {
    if (kind === 'begin') process.send({ kind: 'ready', ports: { port: 1, operatorPort: null } })
    if (kind === 'ask') {
      if (question.receipts === 'slow') setInterval(() => process.send({ kind: 'working', id }), 50)
      late.push({ kind: 'answer', id, what: question.what, answer: ['recorded'] })
      if (question.what !== 'receipts') for (const answer of late.splice(0)) process.send(answer)
    }
    if (kind === 'stop') process.exit()
  })`

async function aWorker(answerTimeoutMs: number, workingTimeoutMs?: number) {
  const directory = await mkdtemp(join(tmpdir(), 'aldis-worker-'))
  const program = join(directory, 'worker.mjs')
  await writeFile(program, PROGRAM)
  const assignment = {
    number: 2,
    workers: 2,
    databaseUrl: '',
    nodeName: 'a/2',
    httpPort: 0,
    operatorPort: null,
    carriersStopped: false,
    listensFirst: false,
  }
  const events = { onBarred: () => undefined, askOthers: async () => [] }
  const worker = new WorkerProcess(program, assignment, events, answerTimeoutMs, workingTimeoutMs)
  await worker.ready
  return Object.assign(worker, {
    async [Symbol.asyncDispose]() {
      worker.kill()
      await worker.ended
      await rm(directory, { recursive: true })
    },
  })
}

test('a worker that hangs, or is late with one kind of question, is known to until it answers again', async () => {
  await using worker = await aWorker(300)
  expect([await worker.ask({ what: 'metrics' }), worker.isAnswering('metrics')]).toEqual([['recorded'], true])
  expect(await worker.ask({ what: 'receipts', receipts: '' })).toBeNull()
  expect([worker.isAnswering('receipts'), worker.isAnswering('metrics')]).toEqual([false, true])
  expect([await worker.ask({ what: 'metrics' }), worker.isAnswering('receipts')]).toEqual([
    ['recorded'],
    true,
  ])
  process.kill(worker.pid!, 'SIGSTOP')
  expect([await worker.ask({ what: 'metrics' }), worker.isAnswering('metrics')]).toEqual([null, false])
  process.kill(worker.pid!, 'SIGCONT')
  await eventually(() => worker.isAnswering('metrics'))
  worker.stop()
  await worker.ended
})

test('a worker that says that it is working on receipts is waited for, however slow its COMMIT', async () => {
  await using worker = await aWorker(1_000)
  const slow = worker.ask({ what: 'receipts', receipts: 'slow' })
  // Asked later, and given up: by then the time of the first has passed too.
  expect(await worker.ask({ what: 'receipts', receipts: '' })).toBeNull()
  await worker.ask({ what: 'metrics' })
  expect(await slow).toEqual(['recorded'])
})

test('a worker that never ends its work on receipts is given up, and known to', async () => {
  await using worker = await aWorker(300, 600)
  expect(await worker.ask({ what: 'receipts', receipts: 'slow' })).toBeNull()
  expect(worker.isAnswering('receipts')).toBe(false)
})

test('a worker that ends is not waited for', async () => {
  await using worker = await aWorker(600_000)
  const slow = worker.ask({ what: 'receipts', receipts: 'slow' })
  worker.kill()
  expect(await slow).toBeNull()
})
