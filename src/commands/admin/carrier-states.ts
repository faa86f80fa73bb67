import { type Command, InvalidArgumentError } from 'commander'
import { addConnectionOptions, type ConnectionOptions, requestAdmin } from './client.ts'
import type { Fields } from './printing.ts'

const POLL_MS = 500
const DRAIN_HELP = `
It stays bound, so that receipts and inbound messages arrive; nothing new is submitted. Messages that wait for it take
another carrier of its route, or go on waiting. The command returns when every submit has been answered, as far as the
node that it asks knows. Exit code 1 if some are not answered in time.`

interface DrainOptions extends ConnectionOptions {
  readonly wait: boolean
  readonly timeout: number
}

interface Carrier extends Fields {
  readonly link: { readonly unanswered: number } | null
}

type Print = (options: ConnectionOptions, carrier: Fields) => void

/** Adds `start`, `stop` and `drain`: short forms of `update --state`, of which `drain` waits. */
export function addCarrierStates(carrier: Command, print: Print): void {
  const add = (verb: string, description: string) =>
    addConnectionOptions(
      carrier
        .command(`${verb} <carrier>`)
        .usage('<carrier> [options]')
        .description(description)
        .addHelpText('after', `\nExample:\n  aldis carrier ${verb} acme`),
    )
  const change = (name: string, options: ConnectionOptions, state: string) =>
    requestAdmin(options, 'PATCH', pathOf(name), { state }) as Promise<Carrier>
  add('start', 'Bind a carrier and submit to it').action(async (name: string, options: ConnectionOptions) =>
    print(options, await change(name, options, 'started')),
  )
  add('stop', 'Unbind a carrier once its submits are answered (15 s at most)').action(
    async (name: string, options: ConnectionOptions) =>
      print(options, await change(name, options, 'stopped')),
  )
  add('drain', 'Drain a carrier: submit nothing more to it, but stay bound')
    .option('--no-wait', 'Do not wait for submits in flight')
    .option('--timeout <seconds>', 'How long to wait; the carrier stays draining after it', wholeNumber, 60)
    .addHelpText('after', DRAIN_HELP)
    .action(async (name: string, options: DrainOptions) => {
      const carrier = await change(name, options, 'draining')
      print(options, options.wait ? await drained(name, options, carrier) : carrier)
    })
}

async function drained(name: string, options: DrainOptions, first: Carrier): Promise<Carrier> {
  const deadlineMs = performance.now() + options.timeout * 1_000
  const progress = new Progress()
  let carrier = first
  try {
    while (unanswered(carrier) > 0) {
      if (performance.now() >= deadlineMs)
        throw new Error(`${name} is draining, but has not answered all submits: ${unanswered(carrier)} left`)
      progress.show(`${unanswered(carrier)} submits to be answered`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      carrier = (await requestAdmin(options, 'GET', pathOf(name))) as Carrier
    }
    return carrier
  } finally {
    progress.end()
  }
}

function pathOf(name: string): string {
  return `/carriers/${encodeURIComponent(name)}`
}

function unanswered({ link }: Carrier): number {
  return link?.unanswered ?? 0
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
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
