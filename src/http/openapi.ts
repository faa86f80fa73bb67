import fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { withComponents } from './openapi-components.ts'
import { WEBHOOKS } from './schemas/webhooks.ts'

const FAILURES = 'Every failure answers the ErrorBody, whatever its status.'
const BEARER = { type: 'http', scheme: 'bearer', description: 'A token that the operator issued' } as const
const ABOUT = { version: 'v1', license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' } }
const OPERATOR_PATHS = '/admin/v1/'

/** The tags of the customers' document. */
const CUSTOMER_TAGS = [
  { name: 'Messages', description: 'Send messages, and read their delivery records.' },
  { name: 'Inbound messages', description: 'Messages that people sent to your numbers.' },
  { name: 'Statistics', description: 'Counts, prices and latencies over time.' },
  { name: 'Sandbox', description: 'The simulated handset of sandbox plans, and what it can show.' },
  { name: 'Events', description: 'Changes of status and inbound messages, to be read in their order.' },
  { name: 'Webhook deliveries', description: 'Events pushed to your URLs, and deliveries that wait.' },
  { name: 'Webhooks', description: 'What the service pushes to your URLs.' },
]

/** The tags of the operators' document. */
const OPERATOR_TAGS = [
  ['Accounts', 'Customers, with their webhook secrets and rate limits.'],
  ['Service plans', 'Service plans, under which customers send and receive.'],
  ['Plan limits', 'How much of its caps a service plan has used, and the events of its limits.'],
  ['Tokens', "Credentials of the customers' API."],
  ['Operator tokens', 'Credentials of the admin API, by name and role.'],
  ['Audit log', 'Every change through the admin API: who, when, and what.'],
  ['Configuration', 'All objects that a configuration file can have.'],
  ['Senders', 'Senders that a service plan may use.'],
  ['Sendsms users', "Users of Kannel's /cgi-bin/sendsms."],
  ['Sender rules', 'Types of sender that a country allows.'],
  ['Inbound numbers', 'Numbers that people send messages to.'],
  ['Opt-outs', 'Recipients that want nothing more from a sender.'],
  ['Carriers', 'SMSCs that the service binds to.'],
  ['Routes', 'Carriers by priority and weight, and which of them a message takes.'],
  ['Routing rules', 'Exceptions from the route of a service plan.'],
  ['Number ranges', 'Networks of number prefixes.'],
  ['Rates', 'What a segment costs.'],
  ['Quality', 'How carriers do in each route.'],
  ['Statistics', 'Counts, prices and latencies over time.'],
  ['Queue', 'What waits, and why.'],
  ['Alarms', 'What is wrong, and what to do about it.'],
  ['Nodes', 'Processes of the service.'],
  ['Secrets', 'Secrets encrypted with SECRET_KEY.'],
  ['Message search', 'Outbound messages of all service plans, with their timeline.'],
  ['Inbound message search', 'Inbound messages of all service plans, and those that nobody owns.'],
  ['Webhook administration', 'Events of all service plans, and where they are delivered.'],
].map(([name, description]) => ({ name, description }))

type Route = Required<Pick<RouteOptions, 'method' | 'url' | 'schema'>>

/** Collects the routes registered after it, and serves the customers' document at `/openapi.json`. */
export function documentRoutes(app: FastifyInstance, baseUrl: string | null): void {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url, schema = {} }) => void routes.push({ method, url, schema }))
  let whole: Promise<Document> | undefined
  app.decorate('wholeDocument', () => (whole ??= documentOf(routes, baseUrl)))
  answerDocument(app, '/openapi.json', {
    isPath: (path) => !path.startsWith(OPERATOR_PATHS),
    info: {
      title: 'Aldis',
      ...ABOUT,
      description: `Send SMS, look up and list delivery records, and receive webhooks. ${FAILURES}`,
    },
    tags: CUSTOMER_TAGS,
    webhooks: WEBHOOKS,
  })
}

/** Serves the operators' document to anybody: it has no secrets. */
export function documentOperatorRoutes(app: FastifyInstance): void {
  answerDocument(app, `${OPERATOR_PATHS}openapi.json`, {
    isPath: (path) => path.startsWith(OPERATOR_PATHS),
    info: {
      title: 'Aldis admin API',
      ...ABOUT,
      description: `Set up accounts, carriers, routes and prices, and follow messages. ${FAILURES}`,
    },
    tags: OPERATOR_TAGS,
  })
}

interface Document {
  readonly paths: Readonly<Record<string, unknown>>
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The document of all routes, with all schemas in full. */
    wholeDocument(): Promise<Document>
  }
}

interface Part {
  readonly isPath: (path: string) => boolean
  readonly info: object
  readonly tags: readonly object[]
  readonly webhooks?: object
}

function answerDocument(app: FastifyInstance, url: string, { isPath, ...head }: Part): void {
  let text: string | undefined
  app.get(url, { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(withComponents({ ...withPaths(await app.wholeDocument(), isPath), ...head }))
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

function withPaths({ paths, ...document }: Document, isPath: Part['isPath']): object {
  return { ...document, paths: Object.fromEntries(Object.entries(paths).filter(([path]) => isPath(path))) }
}

/**
 * Everything about these routes, from a server that only has their schemas. What makes it is loaded with the first request
 * for a document: most nodes get none.
 */
async function documentOf(routes: readonly Route[], baseUrl: string | null): Promise<Document> {
  const { default: swagger } = await import('@fastify/swagger')
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => () => '')
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: baseUrl ?? '/' }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: BEARER } },
    },
  })
  for (const { method, url, schema } of routes) {
    const documented = [method].flat().filter((one) => one !== 'HEAD')
    app.route({ method: documented, url, schema, handler: () => undefined })
  }
  await app.ready()
  return app.swagger() as Document
}
