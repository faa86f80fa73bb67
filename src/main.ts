#!/usr/bin/env node

/** As package.json says. Checked before anything is imported, because an older Node.js cannot even parse the rest. */
const OLDEST_NODE = 24

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  const found = `${process.versions.node} (${process.execPath})`
  process.stderr.write(`error: Aldis needs Node.js ${OLDEST_NODE} or newer; this is ${found}\n`)
  process.exitCode = 1
} else {
  // `aldis … | head` closes the pipe. Output that nobody reads need not be written.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const { runProgram } = await import('./commands/program.ts')
  await runProgram(process.argv.slice(2))
}

export {}
