import type { BenchOptions } from './options.ts'
import type { Percentiles } from './percentiles.ts'
import type { Accepts, EndToEnd } from './phases.ts'
import type { Delays, Isolation } from './webhook-isolation.ts'
import type { WebhookFigures } from './webhooks.ts'

export interface Figures {
  readonly machine: Readonly<Record<string, string>>
  readonly options: BenchOptions
  readonly endToEnd: EndToEnd | null
  readonly accepts: Accepts | null
  readonly checked: number
  readonly webhooks: WebhookFigures | null
}

/** The figures as text for people. */
export function figuresText({ machine, endToEnd, accepts, checked, options, webhooks }: Figures): string {
  const rows: [string, string][] = [
    ...Object.entries(machine),
    ['options', JSON.stringify(options)],
    ['', ''],
    ...(accepts === null ? [] : acceptRows(accepts)),
    ...(endToEnd === null ? [] : endToEndRows(endToEnd, options)),
    ['totals', `${checked} accepted, each DELIVERED with both webhooks, exactly once`],
    ...(webhooks === null ? [] : webhookRows(webhooks)),
  ]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return `${rows.map(([name, value]) => `${name.padEnd(width)}${value}`.trimEnd()).join('\n')}\n`
}

function endToEndRows(endToEnd: EndToEnd, { throughput }: BenchOptions): [string, string][] {
  const { cpu, timings, eachSecond } = endToEnd
  return [
    ['end to end', `${whole(endToEnd.perSecond)} messages/s over ${endToEnd.seconds.toFixed(0)} s`],
    ['  in one second', `${whole(Math.min(...eachSecond))} to ${whole(Math.max(...eachSecond))}`],
    ['  accept latency', latency(endToEnd.accept)],
    ['  webhook delay', `${latency(timings.webhookDelayMs)} (change to arrival)`],
    ['  to DELIVERED', `${latency(timings.deliveredMs)} (creation to webhook, receipt delay included)`],
    ...(throughput === null ? [] : throttledRows(endToEnd, throughput)),
    ['CPU for one message', `${ms(cpu.aldis + cpu.postgresql)} Aldis and PostgreSQL`],
    ['  Aldis', ms(cpu.aldis)],
    ['  PostgreSQL', ms(cpu.postgresql)],
    ['  load, carrier, receiver', `${ms(cpu.load)}, ${ms(cpu.carrier)}, ${ms(cpu.receiver)}`],
    ['processors in use', `${whole(endToEnd.machineUse * 100)} % of the machine, by anybody`],
    ['memory of Aldis', `${whole(endToEnd.serviceMemoryMib)} MiB`],
  ]
}

function acceptRows({ perSecond, latency: accept, backlog, drainPerSecond }: Accepts): [string, string][] {
  return [
    ['accepts', `${whole(perSecond)}/s, ${latency(accept)}`],
    ['  backlog after them', `${backlog} messages, drained at ${whole(drainPerSecond)}/s`],
  ]
}

function webhookRows({ drain, isolation }: WebhookFigures): [string, string][] {
  const { aldis, postgresql, receiver } = drain.cpu
  return [
    ['', ''],
    ['waiting webhooks', `${drain.events} events, ${whole(drain.perSecond)}/s to a fast receiver`],
    ['  CPU for one event', `${ms(aldis)} Aldis, ${ms(postgresql)} PostgreSQL, ${ms(receiver)} receiver`],
    ...isolation.flatMap(isolationRows),
    ['totals', 'each webhook exactly once, in the order of its message'],
  ]
}

function isolationRows(isolation: Isolation): [string, string][] {
  const { hanging, waiting, ratio, worstRatio, recoverySeconds, recoveryPerSecond } = isolation
  return [
    [`a destination of ${hanging} hangs, ${waiting} events wait`, ''],
    ['  delay undisturbed', delays(isolation.undisturbed)],
    ['  until the breaker is open', delays(isolation.untilOpen)],
    ['  while it is open', delays(isolation.open)],
    ['  while it recovers', delays(isolation.recovery)],
    ['  p99 by the undisturbed', `${ratio.toFixed(2)}; of the worst windows ${worstRatio.toFixed(2)}`],
    [
      '  recovery',
      `${recoverySeconds.toFixed(1)} s from its first answer, ${whole(recoveryPerSecond)} events/s`,
    ],
  ]
}

function delays(all: Delays): string {
  return `${latency(all)}, worst window's p99 ${all.worst.toFixed(1)} ms`
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
