import { Session } from 'node:inspector/promises'

/** CPU profile of this process: Profiler.Profile of the V8 inspector. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** On the clock of `process.hrtime`, in microseconds. */
  readonly startTime: number
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly children?: readonly number[]
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

/** Starts sampling. The function it returns stops it and returns the profile. */
export async function startProfile(): Promise<() => Promise<object>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 500 })
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    return profile
  }
}

interface SelfTime {
  readonly name: string
  /** Share of the sampled time that was not idle. */
  readonly share: number
}

interface SelfTimes {
  readonly functions: SelfTime[]
  /** A package, or a file of the project, with what Node and V8 did on its behalf. */
  readonly owners: SelfTime[]
  /** Native functions, with the owner that called them. */
  readonly natives: SelfTime[]
  readonly idleShare: number
}

/** Self time of the sampled main thread, highest first. */
function selfTimes(profile: object): SelfTimes {
  const { nodes, samples, timeDeltas } = profile as CpuProfile
  const owners = ownersOf(nodes)
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const times = { functions: new Times(), owners: new Times(), natives: new Times() }
  let busy = 0
  let idle = 0
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!
    const us = timeDeltas[index] ?? 0
    if (functionName === '(idle)') {
      idle += us
      continue
    }
    busy += us
    const owner = owners.get(id) ?? functionName
    const place = url === '' ? '' : `  ${placeOf(url)}:${lineNumber + 1}`
    times.functions.add(`${functionName || '(anonymous)'}${place}`, us)
    times.owners.add(owner, us)
    if (url === '' || url.startsWith('node:'))
      times.natives.add(`${functionName || '(anonymous)'} for ${owner}`, us)
  }
  return {
    functions: times.functions.ranked(busy),
    owners: times.owners.ranked(busy),
    natives: times.natives.ranked(busy),
    idleShare: idle / Math.max(1, busy + idle),
  }
}

/** `4 ms src/store/directory.ts`: the packages and files that ran longest between two instants of the profile's clock. */
export function ownersText(profile: object, fromUs: number, toUs: number): string {
  const { nodes, samples, timeDeltas, startTime } = profile as CpuProfile
  const owners = ownersOf(nodes)
  const times = new Times()
  let atUs = startTime
  for (const [index, id] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0
    if (atUs > fromUs && atUs <= toUs) times.add(owners.get(id)!, timeDeltas[index] ?? 0)
  }
  const ran = times.ranked(1_000).filter(({ name }) => name !== '(idle)')
  return ran
    .slice(0, 4)
    .map(({ name, share: ms }) => `${ms.toFixed(0)} ms ${name}`)
    .join(', ')
}

class Times {
  readonly #us = new Map<string, number>()

  add(name: string, us: number): void {
    this.#us.set(name, (this.#us.get(name) ?? 0) + us)
  }

  ranked(total: number): SelfTime[] {
    const entries = [...this.#us].sort(([, a], [, b]) => b - a)
    return entries.map(([name, us]) => ({ name, share: us / Math.max(1, total) }))
  }
}

/** For each node the nearest frame at or above it that is neither Node's nor V8's. */
function ownersOf(nodes: readonly ProfileNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const owners = new Map<number, string>()
  const roots = new Set(byId.keys())
  for (const { children = [] } of nodes) for (const child of children) roots.delete(child)
  const waiting: { id: number; inherited: string | null }[] = [...roots].map((id) => ({
    id,
    inherited: null,
  }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { callFrame, children = [] } = byId.get(next.id)!
    const { url, functionName } = callFrame
    const isForeign = url === '' || url.startsWith('node:')
    const own = isForeign ? null : partOf(placeOf(url))
    const inherited = own ?? next.inherited
    const fallback = url === '' ? functionName : url
    owners.set(next.id, inherited ?? fallback)
    for (const id of children) waiting.push({ id, inherited })
  }
  return owners
}

function placeOf(url: string): string {
  const inPackage = url.lastIndexOf('/node_modules/')
  if (inPackage >= 0) return url.slice(inPackage + '/node_modules/'.length)
  const inSource = url.lastIndexOf('/src/')
  return inSource >= 0 ? url.slice(inSource + 1) : url
}

function partOf(place: string): string {
  if (place.startsWith('src/')) return place
  const [first = '', second = ''] = place.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

const SHOWN = 25

/** Where the time went, for people. */
export function selfTimesText(profile: object): string {
  const { functions, owners, natives, idleShare } = selfTimes(profile)
  const line = ({ name, share }: SelfTime) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`
  return [
    `Aldis, self time by function (main thread idle ${(idleShare * 100).toFixed(1)} %):`,
    ...functions.slice(0, SHOWN).map(line),
    'By package and file, with what Node did for them:',
    ...owners.slice(0, SHOWN).map(line),
    "Node's functions, and for whom:",
    ...natives.slice(0, SHOWN).map(line),
    '',
  ].join('\n')
}
