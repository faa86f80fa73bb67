import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { WEBHOOKS } from './schemas/webhooks.ts'

/** Collects the schemas of the routes registered after it, and answers `/openapi.json` (OpenAPI 3.1). */
export async function documentRoutes(app: FastifyInstance, baseUrl: string | null): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Aldis',
        version: 'v1',
        description:
          'Send SMS, look up and list delivery records, and receive webhooks. Every failure answers the Error body.',
      },
      servers: [{ url: baseUrl ?? '/' }],
      webhooks: WEBHOOKS,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
  })
  let document: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(document)
  })
}
