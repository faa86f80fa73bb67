import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'

/** USER_HZ of Linux, on every architecture Node runs on. */
const TICKS_PER_SECOND = 100

interface Stat {
  readonly name: string
  readonly parent: number
  readonly cpuMs: number
}

const STAT = Buffer.alloc(4_096)

/**
 * readFileSync takes 64 KiB for a file of /proc, whose size is 0. For all processes that is some 13 MB of garbage, which would be
 * collected while latencies are measured.
 */
function readStatText(pid: number): string {
  const file = openSync(`/proc/${pid}/stat`, 'r')
  try {
    return STAT.toString('latin1', 0, readSync(file, STAT))
  } finally {
    closeSync(file)
  }
}

/** proc_pid_stat(5): user and system time, including that of ended children that were waited for. */
function readStat(pid: number): Stat | null {
  let text: string
  try {
    text = readStatText(pid)
  } catch {
    return null
  }
  // The name, in parentheses, may hold anything; field 3 follows it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
  return { name, parent: Number(fields[1]), cpuMs: (ticks * 1_000) / TICKS_PER_SECOND }
}

/** The parent of a process with this name; null when there is no such process. */
export function parentOf(pid: number, name: string): number | null {
  const stat = readStat(pid)
  return stat?.name === name && stat.parent > 1 ? stat.parent : null
}

/** CPU milliseconds of a process so far. @throws Error when it is gone or this is not Linux. */
export function processCpuMs(pid: number): number {
  const stat = readStat(pid)
  if (stat === null) throw new Error(`no CPU times of process ${pid}: gone, or no /proc here`)
  return stat.cpuMs
}

/** CPU milliseconds of a process and its descendants so far, without those below `but`. Ended ones count in their parents. */
export function treeCpuMs(root: number, but?: number): number {
  return [...tree(root, but).values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

/** A process and its descendants, without those below `but`. */
export function treePids(root: number, but?: number): number[] {
  return [...tree(root, but).keys()]
}

function tree(root: number, but: number | undefined): Map<number, Stat> {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null
    if (stat !== null) stats.set(Number(name), stat)
  }
  if (!stats.has(root)) throw new Error(`no CPU times of process ${root}: gone, or no /proc here`)
  const belongs = (pid: number): boolean => {
    if (pid === but) return false
    if (pid === root) return true
    const parent = stats.get(pid)?.parent
    return parent !== undefined && parent > 1 && belongs(parent)
  }
  return new Map([...stats].filter(([pid]) => belongs(pid)))
}

/** Resident memory of a process at its highest (VmHWM). @throws Error when it is gone or this is not Linux. */
export function peakMemoryMib(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return Number(kib) / 1_024
}

/** Share of all processors' time used by any process between two calls; 1 is all of it. */
export function machineUse(): () => number {
  const read = () => {
    const line = /^cpu +(.+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? ''
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = line
      .split(' ')
      .map(Number)
    const used = user + nice + system + irq + softirq
    return { used, all: used + idle + wait + steal }
  }
  const before = read()
  return () => {
    const after = read()
    return (after.used - before.used) / Math.max(1, after.all - before.all)
  }
}
