import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALDIS, Shell, textsOf } from './support/document-commands.ts'
import { type OtlpCollector, startOtlpCollector } from './support/otlp-collector.ts'
import { freePort, ROOT, scratchFolder, start } from './support/process.ts'

/** What docs/tracing.md tells to type, typed. The short form is app/traces.test.ts: the same spans, of a node of the test's own. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/tracing.md'), 'utf8')
const [RUN, SEND, ...MORE] = textsOf(DOCUMENT, 'sh')

const folder = scratchFolder()
let collector: OtlpCollector
beforeAll(async () => {
  collector = await startOtlpCollector()
})
afterAll(async () => {
  await collector?.close()
  folder[Symbol.dispose]()
})

test('the commands: aldis dev exports the trace whose id the last one prints', async () => {
  expect(MORE).toEqual([])
  const env = {
    ALDIS_PORT: String(await freePort()),
    ALDIS_DATA_DIR: join(folder.path, 'data'),
    ALDIS_LISTEN_PORT: String(await freePort()),
  }
  const run = RUN!.replace('http://localhost:4318', collector.url.replace('/v1/traces', '/'))
  await using dev = start('/bin/sh', ['-c', `${ALDIS}\n${run}`], { cwd: folder.path, env })
  await dev.until(() => dev.stdout.includes('/v1/sendsms'))
  await using shell = new Shell({ cwd: folder.path, env })
  const traceId = (await shell.type(SEND!)).trim()
  const names = () =>
    new Set(collector.spans.filter((span) => span.traceId === traceId).map(({ name }) => name))
  await collector.until(() => names().size === 3)
  expect(names()).toEqual(new Set(['accept', 'submit_sm', 'receipt']))
})
