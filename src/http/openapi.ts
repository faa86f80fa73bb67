import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { withComponents } from './openapi-components.ts'
import { OPERATOR_TAGS } from './routes/admin/documentation.ts'
import { CUSTOMER_TAGS } from './schemas/customer-tags.ts'
import { WEBHOOKS } from './schemas/webhooks.ts'

const FAILURES = 'Every failure answers the ErrorBody, whatever its status.'
const BEARER = { type: 'http', scheme: 'bearer', description: 'A token that the operator issued' } as const
const ABOUT = { version: 'v1', license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' } }
const OPERATOR_PATHS = '/admin/v1/'

/** Collects the schemas of the routes registered after it, and serves the customers' document at `/openapi.json`. */
export async function documentRoutes(app: FastifyInstance, baseUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: baseUrl ?? '/' }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: BEARER } },
    },
  })
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
      title: 'Aldis operator API',
      ...ABOUT,
      description: `Set up accounts, carriers, routes and prices, and follow messages. ${FAILURES}`,
    },
    tags: OPERATOR_TAGS,
  })
}

interface Part {
  readonly isPath: (path: string) => boolean
  readonly info: object
  readonly tags: readonly object[]
  readonly webhooks?: object
}

function answerDocument(app: FastifyInstance, url: string, { isPath, ...head }: Part): void {
  let document: string | undefined
  app.get(url, { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(withComponents({ ...collected(app, isPath), ...head }))
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

/** Everything collected about these paths. */
function collected(app: FastifyInstance, isPath: Part['isPath']): object {
  const { paths, ...document } = app.swagger()
  return { ...document, paths: Object.fromEntries(Object.entries(paths!).filter(([path]) => isPath(path))) }
}
