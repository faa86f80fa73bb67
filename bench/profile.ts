import { Session } from 'node:inspector/promises'

/** CPU profile of this process: what the V8 inspector calls Profiler.Profile. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

/** Starts sampling; the function it gives ends that and returns the profile. */
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
  /** Of the sampled time that was not idle. */
  readonly share: number
}

/** Self time by function and by part (a package, a folder of the project, Node itself), dearest first. */
function selfTimes(profile: object): { functions: SelfTime[]; parts: SelfTime[]; idleShare: number } {
  const { nodes, samples, timeDeltas } = profile as CpuProfile
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const functions = new Map<string, number>()
  const parts = new Map<string, number>()
  let busy = 0
  let idle = 0
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id)!
    const us = timeDeltas[index] ?? 0
    if (frame.functionName === '(idle)') {
      idle += us
      continue
    }
    busy += us
    const place = placeOf(frame.url)
    const name = `${frame.functionName || '(anonymous)'}  ${place}${frame.url === '' ? '' : `:${frame.lineNumber + 1}`}`
    functions.set(name, (functions.get(name) ?? 0) + us)
    const part = frame.url === '' ? frame.functionName || '(native)' : partOf(place)
    parts.set(part, (parts.get(part) ?? 0) + us)
  }
  const ranked = (times: Map<string, number>) =>
    [...times].sort(([, a], [, b]) => b - a).map(([name, us]) => ({ name, share: us / Math.max(1, busy) }))
  return { functions: ranked(functions), parts: ranked(parts), idleShare: idle / Math.max(1, busy + idle) }
}

function placeOf(url: string): string {
  const inPackage = url.lastIndexOf('/node_modules/')
  if (inPackage >= 0) return url.slice(inPackage + '/node_modules/'.length)
  const inSource = url.lastIndexOf('/src/')
  return inSource >= 0 ? url.slice(inSource + 1) : url
}

function partOf(place: string): string {
  if (place.startsWith('node:')) return place
  const [first = '', second = ''] = place.split('/')
  return first === 'src' || first.startsWith('@') ? `${first}/${second}` : first
}

const SHOWN_FUNCTIONS = 25
const SHOWN_PARTS = 20

/** The dearest functions and parts, for people. */
export function selfTimesText(profile: object): string {
  const { functions, parts, idleShare } = selfTimes(profile)
  const line = ({ name, share }: SelfTime) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`
  return [
    `Aldis, self time (main thread idle ${(idleShare * 100).toFixed(1)} %):`,
    ...functions.slice(0, SHOWN_FUNCTIONS).map(line),
    '',
    'By part:',
    ...parts.slice(0, SHOWN_PARTS).map(line),
    '',
  ].join('\n')
}
