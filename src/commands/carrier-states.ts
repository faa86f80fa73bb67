import type { Command } from 'commander'
import { type ConnectionOptions, requestAdmin, segment, wholeNumber } from './admin-client.ts'
import { type CarrierRecord, printCarrier, requestCarrier } from './carrier-record.ts'
import { addAction } from './resource.ts'

const PATH = '/carriers'
const POLL_MS = 500
const DRAIN_HELP = `
It stays bound, so that receipts and inbound messages arrive; nothing new is submitted. Messages that wait for it take
another carrier of its route, or go on waiting. The command returns when every submit has been answered, as far as the
node that answers it knows.`

interface DrainOptions extends ConnectionOptions {
  readonly wait: boolean
  readonly timeout: number
}

/** `start`, `stop` and `drain`. */
export function addStates(carrier: Command): void {
  addAction(carrier, 'start <carrier>', 'bind, and submit to it').action(setState('started'))
  addAction(carrier, 'stop <carrier>', 'unbind, once submits in flight are answered').action(
    setState('stopped'),
  )
  addAction(carrier, 'drain <carrier>', 'stop submitting to it, but stay bound')
    .option('--no-wait', 'do not wait for submits in flight')
    .option('--timeout <seconds>', 'how long to wait', wholeNumber, 60)
    .addHelpText('after', DRAIN_HELP)
    .action(drain)
}

function setState(state: string) {
  return (name: string, options: ConnectionOptions) =>
    requestCarrier(options, 'PATCH', `${PATH}/${segment(name)}`, { state })
}

async function drain(name: string, options: DrainOptions): Promise<void> {
  const path = `${PATH}/${segment(name)}`
  let carrier = (await requestAdmin(options, 'PATCH', path, { state: 'draining' })) as CarrierRecord
  const deadlineMs = performance.now() + options.timeout * 1_000
  const progress = new Progress()
  while (options.wait && unanswered(carrier) > 0) {
    if (performance.now() >= deadlineMs) {
      progress.end()
      throw new Error(`${name} is draining, but has not answered all submits: ${unanswered(carrier)} left`)
    }
    progress.show(`${unanswered(carrier)} submits to be answered`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    carrier = (await requestAdmin(options, 'GET', path)) as CarrierRecord
  }
  progress.end()
  printCarrier(options, carrier)
}

function unanswered({ link }: CarrierRecord): number {
  return link?.unanswered ?? 0
}

/** One line on a terminal, written over and over; nothing in a pipe. */
class Progress {
  readonly #shown = process.stderr.isTTY
  show(text: string): void {
    if (this.#shown) process.stderr.write(`\r\u001b[K${text}`)
  }

  end(): void {
    if (this.#shown) process.stderr.write('\r\u001b[K')
  }
}
