#!/usr/bin/env node
import { runProgram } from './commands/program.ts'

// `aldis … | head` closes the pipe: what is not read need not be written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

await runProgram(process.argv.slice(2))
