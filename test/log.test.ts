import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** What a process writes that logs two lines and then ends in this way. */
async function written(end: string): Promise<string[]> {
  const log = new URL('../src/log.ts', import.meta.url)
  const program = `
    import { createLog } from ${JSON.stringify(log.href)}
    const log = createLog('info')
    log.info('first')
    log.info('second')
    ${end}`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const { stderr } = await run.catch((error: { stderr: string }) => error)
  return Array.from(stderr.matchAll(/"msg":"(\w+)"/g), ([, text]) => text!)
}

it.each(['', 'process.exit(1)', "throw new Error('a defect')"])(
  'writes every line, in order, before the process ends: %j',
  async (end) => {
    expect(await written(end)).toEqual(['first', 'second'])
  },
)
