import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOT, start } from '../support/process.ts'

const PROGRAM = `
import { onStopSignal } from ${JSON.stringify(pathToFileURL(join(ROOT, 'src/commands/running.ts')))}
const signal = process.argv[1]
const stop = () => {
  console.log('stopped')
  process.emit(signal, signal)
  console.log('lives')
}
onStopSignal(stop, () => console.log('ended'))
setInterval(() => {}, 60_000)
console.log('ready')
`

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a second %s at once is the same one; one that comes a second later ends the program',
  async (signal) => {
    await using running = start(process.execPath, ['--input-type=module', '--eval', PROGRAM, signal])
    await running.until(() => running.stdout.includes('ready'))
    running.kill(signal)
    await running.until(() => running.stdout.includes('lives'))
    // Impatiently, until one of them counts.
    await running.until(() => {
      running.kill(signal)
      return running.stdout.includes('ended')
    })
    expect(await running.exited).toMatchObject({ signal, stdout: 'ready\nstopped\nlives\nended\n' })
  },
)
