import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { Capture, decodedPackets, hasTshark } from './capture.ts'
import { exchange } from './exchange.ts'
import { type Finding, findings } from './findings.ts'

/**
 * `npm run capture-check`: does tshark, which knows nothing of our codec, read our SMPP as we meant it? Exit code 1 when
 * something differs, 2 when tshark is missing or may not capture.
 */

if (hasTshark()) {
  process.exitCode = await check()
} else {
  process.stderr.write(
    'tshark is not installed (Debian and Ubuntu: apt-get install tshark). Nothing was checked.\n',
  )
  process.exitCode = 2
}

async function check(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'aldis-capture-'))
  const file = join(folder, 'exchange.pcapng')
  const simulator = await startSimulator({ port: 0, receiptDelayMs: 10 })
  try {
    const capture = await Capture.start(simulator.port, file).catch((error: Error) => {
      process.stderr.write(`tshark does not capture on lo (it may need root): ${error.message}\n`)
      return null
    })
    if (capture === null) return 2
    const exchanged = await exchange(simulator).finally(() => capture.stop())
    const packets = await decodedPackets(file, simulator.port)
    return report(packets.length, findings(packets, exchanged))
  } finally {
    await simulator.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(packets: number, all: readonly Finding[]): number {
  process.stdout.write(`${packets} packets\n`)
  let differing = 0
  for (const { what, found, expected } of all) {
    const isRight = found === expected
    if (!isRight) differing += 1
    const shown = String(found).length > 60 ? `${String(found).slice(0, 60)}...` : found
    process.stdout.write(
      `${isRight ? 'ok  ' : 'FAIL'} ${what}: ${isRight ? shown : `${found}, expected ${expected}`}\n`,
    )
  }
  return differing === 0 ? 0 : 1
}
