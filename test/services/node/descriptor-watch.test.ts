import { expect, test } from 'vitest'
import { ROOT, start } from '../../support/process.ts'

/** A process that uses up its file descriptors, asks, gives them back and asks again. */
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs'
  const { Registry } = (await import('prom-client')).default
  const { descriptorWatch } = await import('./src/services/node/descriptor-watch.ts')
  const registry = new Registry()
  const told = []
  const watch = descriptorWatch(registry, { error: ({ code }) => told.push(code) })
  // Stopped at once: where all of this takes more than a second, it would look once more by itself.
  const look = () => watch.startNow().then(() => watch.stop())
  const open = []
  await look()
  try {
    for (;;) open.push(openSync('/dev/null'))
  } catch {}
  await look()
  await look()
  for (const descriptor of open) closeSync(descriptor)
  await look()
  const [metric] = await registry.getMetricsAsJSON()
  process.stdout.write(JSON.stringify({ told, counted: metric.values[0].value }))`

test('a process without a file descriptor left says so once, and counts each second of it', async () => {
  const node = [process.execPath, '--input-type=module', '--eval', SCRIPT]
  // A thread would read these certificates, and give back a descriptor between two looks.
  const env = { NODE_EXTRA_CA_CERTS: '' }
  await using running = start('/bin/sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node], { cwd: ROOT, env })
  const { code, stdout, stderr } = await running.exited
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual({ told: ['EMFILE'], counted: 2 })
})
