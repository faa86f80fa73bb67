/**
 * A program that holds an embedded server, for tests that kill it: `holder.ts DATA_DIR`. Prints one line of JSON, either
 * `{ connectionString, port }` or `{ code, message }`; stops the server when its standard input ends.
 */
import { startEmbeddedPostgres } from '../../src/postgres/embedded-server.ts'
import { EmbeddedPostgresError } from '../../src/postgres/failure.ts'

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// Stands for the draining service: the terminal's Ctrl-C does not end it at once.
process.on('SIGINT', () => print({ heard: 'SIGINT' }))

try {
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2]! })
  print({ connectionString: server.connectionString, port: server.port })
  process.stdin.resume()
  process.stdin.once('end', () => void server.stop().then(() => print({ stopped: true })))
} catch (error) {
  if (!(error instanceof EmbeddedPostgresError)) throw error
  print({ code: error.code, message: error.message })
  process.exitCode = 1
}
