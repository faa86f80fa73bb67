/**
 * A receiver of webhooks as a process of its own, with a ledger that outlives kill -9: a line when a request has come in,
 * and one before it is answered. At one port it is slow, and refuses one in twenty; at the other it refuses all. After
 * SIGUSR2 it takes everything at once. Arguments: path of the ledger, of the certificate, of its key.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { startWebhookReceiver, type WebhookExchange } from '../support/webhook-receiver.ts'
import type { LedgerLine } from './webhook-ledger.ts'

const REFUSED = 0.05
const SLOW = 0.05
const USUAL_MS = 200
const SLOW_MS = 1_500

const [path, cert, key] = process.argv.slice(2)
const ledger = openSync(path!, 'a')
const certificate = { certPem: readFileSync(cert!, 'utf8'), keyPem: readFileSync(key!, 'utf8') }
let healthy = false
process.on('SIGUSR2', () => {
  healthy = true
})

function write(line: LedgerLine): void {
  writeSync(ledger, `${JSON.stringify(line)}\n`)
}

async function listen(isDown: boolean): Promise<number> {
  return (await startWebhookReceiver({ certificate, answer: (exchange) => take(exchange, isDown) })).port
}

function take(exchange: WebhookExchange, isDown: boolean): void {
  const { eventId: event, attempt, body } = exchange.request
  write({ kind: 'began', atMs: Date.now(), event, attempt, body })
  const isRefused = !healthy && (isDown || Math.random() < REFUSED)
  const answer = () => {
    write({ kind: 'answered', atMs: Date.now(), event, attempt, ok: !isRefused })
    exchange.respond(isRefused ? 500 : 200)
  }
  if (healthy || isDown) answer()
  else setTimeout(answer, Math.random() * (Math.random() < SLOW ? SLOW_MS : USUAL_MS))
}

const ports = [await listen(false), await listen(true)]
process.stdout.write(`listening ${ports.join(' ')}\n`)
