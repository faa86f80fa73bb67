import { writeFileSync } from 'node:fs'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { messageOctets } from '../../src/smpp/pdu.ts'
import { serveParent } from '../parent.ts'
import { ledgerLine, nowUs } from './ledgers.ts'
import { numberIn } from './requests.ts'

/**
 * The carrier without a C compiler, or with a limited throughput: the project's simulator. Arguments, commands and ledger are
 * those of carrier.c, with these differences: a fifth argument limits the submits accepted in any second; it cannot hold
 * receipts back or be down, and does not know when a receipt passed.
 */

const [least = '', most = '', deliverWindow = '', outstanding = '', throughput] = process.argv.slice(2)
if (outstanding !== '0') throw new Error('this carrier holds no receipts back')

const submits = new Map<number, { times: number; firstUs: number }>()

const simulator: Simulator = await startSimulator({
  port: 0,
  receiptDelayMs: [Number(least), Number(most)],
  deliverWindow: Number(deliverWindow),
  ...(throughput !== undefined && { throughput: Number(throughput) }),
  onSubmit(pdu) {
    const number = numberIn(messageOctets(pdu).toString('latin1'))
    if (number === null) return
    const known = submits.get(number)
    if (known === undefined) submits.set(number, { times: 1, firstUs: nowUs() })
    else known.times += 1
  },
})

serveParent(
  { port: simulator.port },
  {
    stats() {
      const { accepted, throttled, receipts, dropped, scheduled, kept, binds } = simulator.stats
      return {
        accepted,
        throttled,
        receiptsSent: receipts,
        receiptsAcknowledged: receipts,
        receiptsRefused: dropped,
        receiptsWaiting: scheduled + kept,
        binds,
      }
    },
    release: () => undefined,
    ledger(path) {
      const lines = [...submits].map(([number, { times, firstUs }]) =>
        ledgerLine([number, times, firstUs, 0, 0]),
      )
      writeFileSync(path, lines.join(''))
    },
  },
  () => simulator.stop(),
)
