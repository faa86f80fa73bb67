import { type Command, InvalidArgumentError } from 'commander'
import { addCreate, addDelete, addList, addShow, addUpdate } from './resource.ts'
import { addExplain } from './route-explain.ts'
import { addRules } from './route-rule.ts'
import type { Setting } from './settings.ts'

const PATH = '/routes'
const EXAMPLES = `
Examples:
  aldis route create default --carrier acme --carrier backup:1
  aldis route update default --carrier acme:0:3 --carrier other:0:1 --carrier backup:1
  aldis route update default --quality-floor 70:60:100:30

A carrier is name[:priority[:weight]]: the lowest priority is tried first (default 0), equal ones share by
weight (default 1). A quality floor is percent[:window[:messages[:pause]]]: if a carrier has had at least that number of
messages (default 100) in the window (minutes, default 60) and delivered less than that percentage of them, it is out of
use in this route for the pause (minutes, default 30), as long as the route has another carrier.`

interface RouteCarrier {
  readonly carrier: string
  readonly priority?: number
  readonly weight?: number
}

const FLOOR: Setting = [
  'qualityFloor',
  '--quality-floor <floor>',
  'percent[:window[:messages[:pause]]]: when a carrier is out of use',
  qualityFloor,
]

export function register(program: Command): void {
  const route = program
    .command('route')
    .description('Routes: which carriers the messages of a plan take')
    .addHelpText('after', EXAMPLES)

  addCreate(route, {
    key: 'name',
    path: PATH,
    description: 'create a route',
    settings: [
      ['carriers', '--carrier <carrier>', 'name[:priority[:weight]]; may be repeated', routeCarrier],
      FLOOR,
    ],
    others: ({ carrier = [] }: { carrier?: RouteCarrier[] }) => ({ carriers: carrier }),
  })
  addList(route, {
    path: PATH,
    description: 'list routes',
    columns: { ROUTE: 'name', CARRIERS: 'carriers', 'QUALITY FLOOR': 'qualityFloor' },
  })
  addShow(route, { key: 'route', path: PATH, description: 'show a route' })
  addUpdate(route, {
    key: 'route',
    path: PATH,
    description: 'change a route; omitted options keep their values',
    settings: [
      ['name', '--name <name>', 'new name'],
      ['carriers', '--carrier <carrier>', 'replaces all current ones; may be repeated', routeCarrier],
      FLOOR,
      ['qualityFloor', '--no-quality-floor', 'never take a carrier out of use'],
    ],
  })
  addDelete(route, { key: 'route', path: PATH, description: 'delete a route that no plan and no rule uses' })
  addRules(route)
  addExplain(route)
}

function routeCarrier(text: string, previous: readonly RouteCarrier[] | undefined): RouteCarrier[] {
  const parts = /^([^:]+)(?::(\d{1,4})(?::(\d{1,4}))?)?$/.exec(text)
  if (parts === null) throw new InvalidArgumentError('Expected name[:priority[:weight]].')
  const [, carrier, priority, weight] = parts
  const entry = {
    carrier: carrier!,
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(weight === undefined ? {} : { weight: Number(weight) }),
  }
  return [...(previous ?? []), entry]
}

function qualityFloor(text: string): Record<string, unknown> {
  const parts = /^(\d{1,3})(?::(\d{1,4})(?::(\d{1,7})(?::(\d{1,4}))?)?)?$/.exec(text)
  if (parts === null) throw new InvalidArgumentError('Expected percent[:window[:messages[:pause]]].')
  const [minDelivered, windowMinutes, minMessages, pauseMinutes] = parts
    .slice(1)
    .map((part) => part && Number(part))
  return { minDelivered, windowMinutes, minMessages, pauseMinutes }
}
