import type { BenchOptions } from './options.ts'
import type { Percentiles } from './percentiles.ts'
import type { Accepts, EndToEnd } from './phases.ts'

export interface Figures {
  readonly machine: Readonly<Record<string, string>>
  readonly options: BenchOptions
  readonly endToEnd: EndToEnd
  readonly accepts: Accepts | null
  readonly checked: number
}

/** The figures as text for people. */
export function figuresText({ machine, endToEnd, accepts, checked, options }: Figures): string {
  const { cpu, timings } = endToEnd
  const seconds = endToEnd.eachSecond
  const rows: [string, string][] = [
    ...Object.entries(machine),
    ['options', JSON.stringify(options)],
    ['', ''],
    ...(accepts === null ? [] : acceptRows(accepts)),
    ['end to end', `${whole(endToEnd.perSecond)} messages/s over ${endToEnd.seconds.toFixed(0)} s`],
    ['  in one second', `${whole(Math.min(...seconds))} to ${whole(Math.max(...seconds))}`],
    ['  accept latency', latency(endToEnd.accept)],
    ['  webhook delay', `${latency(timings.webhookDelayMs)} (change to arrival)`],
    ['  to DELIVERED', `${latency(timings.deliveredMs)} (creation to webhook, receipt delay included)`],
    ...(options.throughput === null ? [] : throttledRows(endToEnd, options.throughput)),
    ['CPU for one message', `${ms(cpu.aldis + cpu.postgresql)} Aldis and PostgreSQL`],
    ['  Aldis', ms(cpu.aldis)],
    ['  PostgreSQL', ms(cpu.postgresql)],
    ['  load, carrier, receiver', `${ms(cpu.load)}, ${ms(cpu.carrier)}, ${ms(cpu.receiver)}`],
    ['processors in use', `${whole(endToEnd.machineUse * 100)} % of the machine, by anybody`],
    ['memory of Aldis', `${whole(endToEnd.serviceMemoryMib)} MiB`],
    ['totals', `${checked} accepted, each DELIVERED with both webhooks, exactly once`],
  ]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return `${rows.map(([name, value]) => `${name.padEnd(width)}${value}`.trimEnd()).join('\n')}\n`
}

function acceptRows({ perSecond, latency: accept, backlog, drainPerSecond }: Accepts): [string, string][] {
  return [
    ['accepts', `${whole(perSecond)}/s, ${latency(accept)}`],
    ['  backlog after them', `${backlog} messages, drained at ${whole(drainPerSecond)}/s`],
  ]
}

function throttledRows({ carrier, seconds }: EndToEnd, throughput: number): [string, string][] {
  const { accepted, throttled } = carrier
  const used = (100 * accepted) / (seconds * throughput)
  const refused = (100 * throttled) / Math.max(1, accepted + throttled)
  return [
    ['carrier at its limit', `${used.toFixed(1)} % of ${throughput}/s used`],
    ['  throttled answers', `${throttled}, ${refused.toFixed(1)} % of all`],
  ]
}

function latency({ p50, p99, max }: Percentiles): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(0)} ms`
}

function ms(value: number): string {
  return `${value.toFixed(3)} ms`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
