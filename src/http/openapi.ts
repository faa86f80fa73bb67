import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { withComponents } from './openapi-components.ts'
import { WEBHOOKS } from './schemas/webhooks.ts'

const FAILURES = 'Every failure answers the ErrorBody, whatever its status.'
const OPERATOR_PATHS = '/admin/v1/'

/** Collects the schemas of the routes registered after it, and answers the customers' document at `/openapi.json`. */
export async function documentRoutes(app: FastifyInstance, baseUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: baseUrl ?? '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
  })
  answerDocument(app, '/openapi.json', {
    isPath: (path) => !path.startsWith(OPERATOR_PATHS),
    info: {
      title: 'Aldis',
      version: 'v1',
      description: `Send SMS, look up and list delivery records, and receive webhooks. ${FAILURES}`,
    },
    webhooks: WEBHOOKS,
  })
}

/** Answers the operators' document, to anybody: it has no secrets. */
export function documentOperatorRoutes(app: FastifyInstance): void {
  answerDocument(app, `${OPERATOR_PATHS}openapi.json`, {
    isPath: (path) => path.startsWith(OPERATOR_PATHS),
    info: {
      title: 'Aldis operator API',
      version: 'v1',
      description: `Set up accounts, carriers, routes and prices, and see what becomes of messages. ${FAILURES}`,
    },
  })
}

interface Part {
  readonly isPath: (path: string) => boolean
  readonly info: object
  readonly webhooks?: object
}

function answerDocument(app: FastifyInstance, url: string, { isPath, ...head }: Part): void {
  let document: string | undefined
  app.get(url, { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(withComponents({ ...collected(app, isPath), ...head }))
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

/** All that is collected, of these paths only. */
function collected(app: FastifyInstance, isPath: Part['isPath']): object {
  const { paths, ...document } = app.swagger()
  return { ...document, paths: Object.fromEntries(Object.entries(paths!).filter(([path]) => isPath(path))) }
}
