import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALDIS, Shell, textsOf } from './support/document-commands.ts'
import { type OtlpCollector, startOtlpCollector } from './support/otlp-collector.ts'
import { freePort, NODE_COMPILE_CACHE, ROOT, SOURCE, scratchFolder, start } from './support/process.ts'

/** What docs/tracing.md tells to type, typed. */

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

test('without a collector, no package of OpenTelemetry is loaded for traces', async () => {
  const hooks = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('@opentelemetry/')) process.stderr.write('LOADED ' + name + '\\n')
      return next(name, context)
    } })`)}`
  const loaded = async (otel: Record<string, string>) => {
    const env = {
      NODE_COMPILE_CACHE,
      NODE_OPTIONS: `--import ${hooks}`,
      DATABASE_URL: `postgresql://127.0.0.1:${await freePort()}/aldis`,
      SECRET_KEY: 'ab'.repeat(32),
      OPERATOR_TOKEN: 'operator-token-of-more-than-32-characters',
      HTTP_PORT: '0',
      ...otel,
    }
    await using service = start(process.execPath, [SOURCE, 'serve'], { env })
    const { stderr } = await service.exited
    // By then every part of a node is made.
    expect(stderr).toContain('the database cannot be reached')
    const names = [...stderr.matchAll(/^LOADED (.+)$/gm)].map(([, name]) => name)
    // prom-client loads this one.
    return new Set(names.filter((name) => name !== '@opentelemetry/api'))
  }
  expect(await loaded({ OTEL_SERVICE_NAME: 'sms' })).toEqual(new Set())
  const some = await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  expect(some).toContain('@opentelemetry/sdk-trace')
})
