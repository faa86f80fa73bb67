import { expect, test } from 'vitest'
import { freePort, NODE_COMPILE_CACHE, SOURCE, start } from '../support/process.ts'

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
