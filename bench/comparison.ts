import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAldis } from './aldis/aldis.ts'
import type { EndToEnd, Paced } from './end-to-end.ts'
import { findKannel, type KannelPrograms } from './kannel/install.ts'
import { startKannel } from './kannel/kannel.ts'
import { describeMachine } from './machine.ts'
import { requireTotals, runMessages, startParts } from './message-run.ts'
import type { BenchOptions } from './options.ts'
import type { Rig } from './rig.ts'
import { type Built, buildTools } from './tools/build.ts'
import { acceptedCount } from './totals.ts'

/** Aldis and Kannel in turn, with the same load, carrier and receiver. Each run restarts everything. */

export interface Run {
  readonly name: 'Aldis' | 'Kannel'
  readonly checked: number
  readonly endToEnd: EndToEnd
  readonly paced: Paced | null
}

export interface Comparison {
  readonly machine: Readonly<Record<string, string>>
  readonly options: BenchOptions
  readonly pairs: readonly { readonly aldis: Run; readonly kannel: Run }[]
}

/** Starts a subject, measures it and stops it. */
class Runs {
  readonly #newRig: () => Rig
  readonly #options: BenchOptions
  readonly #programs: KannelPrograms
  readonly #built: Built
  machine: Readonly<Record<string, string>> = {}

  constructor(newRig: () => Rig, options: BenchOptions, programs: KannelPrograms, built: Built) {
    this.#newRig = newRig
    this.#options = options
    this.#programs = programs
    this.#built = built
  }

  async of(name: Run['name'], pair: number): Promise<Run> {
    const rig = this.#newRig()
    rig.progress.run(`pair ${pair} of ${this.#options.pairs}, ${name}`)
    try {
      return await Promise.race([name === 'Aldis' ? this.#aldis(rig) : this.#kannel(rig), rig.fault])
    } catch (error) {
      const complaints = rig.complaints()
      throw new Error(`${(error as Error).message}${complaints === '' ? '' : `\n${complaints}`}`)
    } finally {
      await rig.close()
    }
  }

  async #aldis(rig: Rig): Promise<Run> {
    const options = this.#options
    const tools = await rig.tools(this.#built)
    const parts = await startParts(rig, tools, options, null, (carrier, receiver) =>
      startAldis(rig, {
        logLevel: options.logLevel,
        caPem: null,
        explain: false,
        carrierPort: carrier.port,
        window: options.window,
        workers: options.workers,
        nodes: options.nodes,
        callbackUrl: `${receiver.origin}/receipts`,
      }),
    )
    this.machine = { ...(await describeMachine(parts.subject.db)), tools: tools.description }
    return await this.#measure('Aldis', parts)
  }

  async #kannel(rig: Rig): Promise<Run> {
    const { window } = this.#options
    const tools = await rig.tools(this.#built)
    const parts = await startParts(rig, tools, this.#options, null, (carrier, { origin }) =>
      startKannel(rig, { programs: this.#programs, carrier, window, origin }),
    )
    return await this.#measure('Kannel', parts)
  }

  async #measure(name: Run['name'], parts: Parameters<typeof runMessages>[0]): Promise<Run> {
    const figures = await runMessages(parts, this.#options)
    const ledgers = await requireTotals(parts, name === 'Aldis')
    const { endToEnd, paced } = figures(ledgers)
    return { name, checked: acceptedCount(ledgers), endToEnd: endToEnd!, paced }
  }
}

/** They alternate as first of a pair, so that neither always has the warmer machine. */
export async function compare(newRig: () => Rig, options: BenchOptions): Promise<Comparison> {
  const programs = await findKannel()
  const folder = mkdtempSync(join(options.tempDir ?? tmpdir(), 'aldis-bench-tools-'))
  try {
    const runs = new Runs(newRig, options, programs, await buildTools(folder))
    const pairs: { aldis: Run; kannel: Run }[] = []
    for (let pair = 1; pair <= options.pairs; pair += 1) {
      const order = orderOf(pair, options.first)
      const results = [await runs.of(order[0], pair), await runs.of(order[1], pair)]
      const of = (name: Run['name']) => results.find((run) => run.name === name)!
      pairs.push({ aldis: of('Aldis'), kannel: of('Kannel') })
    }
    return { machine: { ...runs.machine, kannel: programs.version }, options, pairs }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function orderOf(pair: number, first: BenchOptions['first']): readonly [Run['name'], Run['name']] {
  const isOdd = pair % 2 === 1
  return isOdd === (first === 'aldis') ? ['Aldis', 'Kannel'] : ['Kannel', 'Aldis']
}
