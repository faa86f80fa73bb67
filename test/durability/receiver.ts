/**
 * A receiver of webhooks as a process of its own, with a ledger that outlives kill -9: a line when a request has come in,
 * and one before it is answered. At one port it is slow, and refuses one in twenty; at the other it refuses all. After
 * SIGUSR2 it takes everything at once. Arguments: path of the ledger, of the certificate, of its key.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { LedgerLine } from './webhook-ledger.ts'

const REFUSED = 0.05
const SLOW = 0.05
const USUAL_MS = 200
const SLOW_MS = 1_500

const [path, cert, key] = process.argv.slice(2)
const ledger = openSync(path!, 'a')
const credentials = { cert: readFileSync(cert!), key: readFileSync(key!) }
let healthy = false
process.on('SIGUSR2', () => {
  healthy = true
})

function write(line: LedgerLine): void {
  writeSync(ledger, `${JSON.stringify(line)}\n`)
}

async function listen(isDown: boolean): Promise<number> {
  const server = createServer(credentials, (request, response) => take(request, response, isDown))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function take(request: IncomingMessage, response: ServerResponse, isDown: boolean): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const event = String(request.headers['webhook-id'])
    const attempt = Number(request.headers['aldis-attempt'])
    write({ kind: 'began', atMs: Date.now(), event, attempt, body: Buffer.concat(chunks).toString('utf8') })
    const isRefused = !healthy && (isDown || Math.random() < REFUSED)
    const answer = () => {
      write({ kind: 'answered', atMs: Date.now(), event, attempt, ok: !isRefused })
      response.writeHead(isRefused ? 500 : 200).end()
    }
    if (healthy || isDown) answer()
    else setTimeout(answer, Math.random() * (Math.random() < SLOW ? SLOW_MS : USUAL_MS))
  })
}

const ports = [await listen(false), await listen(true)]
process.stdout.write(`listening ${ports.join(' ')}\n`)
