import { type Command, InvalidArgumentError } from 'commander'
import { type ConnectionOptions, given, segment } from './admin-client.ts'
import { addAction, addDelete, addList, addShow, requestAndPrint } from './resource.ts'

const PATH = '/routes'
const EXAMPLES = `
Examples:
  aldis route create default --carrier acme --carrier backup:1
  aldis route update default --carrier acme:0:3 --carrier other:0:1 --carrier backup:1

A carrier is name[:priority[:weight]]: the lowest priority is tried first (default 0), equal ones share by
weight (default 1).`

interface RouteCarrier {
  readonly carrier: string
  readonly priority?: number
  readonly weight?: number
}

interface RouteOptions extends ConnectionOptions {
  readonly name?: string
  readonly carrier?: RouteCarrier[]
}

export function register(program: Command): void {
  const route = program
    .command('route')
    .description('Routes: which carriers the messages of a plan take')
    .addHelpText('after', EXAMPLES)

  addAction(route, 'create <name>', 'create a route')
    .option('--carrier <carrier>', 'name[:priority[:weight]]; may be repeated', routeCarrier)
    .action((name: string, options: RouteOptions) =>
      requestAndPrint(options, 'POST', PATH, { name, carriers: options.carrier ?? [] }),
    )

  addList(route, {
    description: 'list routes',
    path: PATH,
    columns: [
      ['ROUTE', 'name'],
      ['CARRIERS', 'carriers'],
    ],
  })
  addShow(route, { key: 'route', path: PATH, description: 'show a route' })

  addAction(route, 'update <route>', 'change a route; what is not given stays')
    .option('--name <name>', 'new name')
    .option('--carrier <carrier>', 'in place of all there are; may be repeated', routeCarrier)
    .action((name: string, options: RouteOptions) => {
      const body = given({ name: options.name, carriers: options.carrier })
      return requestAndPrint(options, 'PATCH', `${PATH}/${segment(name)}`, body)
    })

  addDelete(route, { key: 'route', path: PATH, description: 'delete a route that no plan uses' })
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
