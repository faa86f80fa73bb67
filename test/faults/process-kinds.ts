/** Nodes that are killed, stopped, starved or restarted. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Point } from './bed.ts'
import { nowMs, pause } from './clock.ts'
import type { Kind, Ongoing, Stage } from './kind.ts'

const CRASH = { copies: true, repeats: true } as const
/** Messages that had begun on a dead node are in doubt. */
const KNOWN = ['unknown-never-offered'] as const
/** Short enough that the node is back before its lease is over; `TAKEN_OVER_MS` is longer than a lease. */
const SHORT_MS = [100, 3_000] as const
const TAKEN_OVER_MS = [16_000, 20_000] as const

async function killed({ node }: Stage): Promise<Ongoing> {
  const startMs = nowMs()
  await node.kill()
  return { startMs, killedNode: node.index, end: () => node.start() }
}

function killAt(point: Point, summary: string): Kind {
  return {
    name: `kill-at-${point}`,
    summary: `a node is killed ${summary}`,
    excuses: CRASH,
    known: KNOWN,
    holdMs: SHORT_MS,
    async begin(stage) {
      await stage.bed.reached(point)
      return await killed(stage)
    },
  }
}

export const PROCESS_KINDS: readonly Kind[] = [
  {
    name: 'kill',
    summary: 'a node is killed and started again within its lease',
    excuses: CRASH,
    known: KNOWN,
    holdMs: SHORT_MS,
    begin: killed,
  },
  {
    name: 'kill-taken-over',
    summary: 'a node is killed and stays down until the others have its work',
    excuses: CRASH,
    known: KNOWN,
    holdMs: TAKEN_OVER_MS,
    minNodes: 2,
    begin: killed,
  },
  {
    name: 'kill-all',
    summary: 'every node is killed at once',
    excuses: CRASH,
    known: KNOWN,
    holdMs: SHORT_MS,
    async begin({ bed, node }) {
      const startMs = nowMs()
      await Promise.all(bed.nodes.map((one) => one.kill()))
      const end = () => Promise.all(bed.nodes.map((one) => one.start()))
      return { startMs, killedNode: node.index, end }
    },
  },
  killAt('accepted', 'as it has answered 202'),
  killAt('submit', 'as a carrier has taken a submit_sm and not answered'),
  killAt('receipt', 'as a carrier has sent a receipt'),
  killAt('inbound', 'as a carrier has offered an inbound message'),
  killAt('webhook', 'as a receiver has a webhook and has not answered'),
  {
    name: 'kill-at-start',
    summary: 'a node is killed, and again while it starts',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [300, 1_500],
    async begin(stage) {
      const ongoing = await killed(stage)
      stage.node.spawn()
      return {
        ...ongoing,
        async end() {
          await stage.node.kill()
          await stage.node.start()
        },
      }
    },
  },
  {
    name: 'terminate',
    summary: 'SIGTERM, the drain, and a new start',
    excuses: { drains: true },
    holdMs: [0, 500],
    async begin({ node }) {
      await node.terminate()
      return { end: () => node.start() }
    },
  },
  {
    name: 'stop-past-lease',
    summary: 'a node stands still (SIGSTOP) for longer than its lease, and wakes',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [14_000, 20_000],
    begin: stopped,
  },
  {
    name: 'event-loop-blocked',
    summary: 'nothing of a node runs for 5 s',
    excuses: { repeats: true },
    holdMs: [5_000, 5_000],
    begin: stopped,
  },
  {
    name: 'descriptor-limit',
    summary: 'a node can open three files or sockets more',
    excuses: { repeats: true },
    holdMs: [3_000, 8_000],
    missing: () => (spawnSync('prlimit', ['--version']).status === 0 ? null : 'prlimit is not installed'),
    async begin({ node }) {
      const { pid } = node
      const [, soft] = /Max open files\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))!
      const open = readdirSync(`/proc/${pid}/fd`).length
      limitFiles(pid, open + 3)
      return { end: async () => limitFiles(pid, Number(soft)) }
    },
  },
]

async function stopped({ bed, node }: Stage): Promise<Ongoing> {
  const startMs = nowMs()
  node.signal('SIGSTOP')
  await pause(0)
  const end = async () => node.signal('SIGCONT')
  return bed.nodes.length === 1 ? { startMs, end } : { startMs, killedNode: node.index, end }
}

function limitFiles(pid: number, soft: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`])
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}
