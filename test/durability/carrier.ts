/**
 * A simulated carrier as a process of its own, with a ledger that outlives kill -9: a line for every submit it accepts,
 * written before the answer. After SIGUSR2 nothing is answered any more. Arguments: port, path of the ledger.
 */
import { openSync, writeSync } from 'node:fs'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { messageOctets } from '../../src/smpp/pdu.ts'

const [port, path] = process.argv.slice(2)
const ledger = openSync(path!, 'a')
const simulator = await startSimulator({
  port: Number(port),
  receiptDelayMs: [0, 100],
  onSubmit: (pdu) => writeSync(ledger, `${messageOctets(pdu).toString('hex')}\n`),
})
process.on('SIGUSR2', () => {
  simulator.faults.swallowSubmitResponses = true
})
process.stdout.write('listening\n')
