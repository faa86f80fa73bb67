/** Writes client/src/schema.ts: the types of the customers' API, from the OpenAPI document that the server answers. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { HTTP_LIMITS } from '../src/http/limits.ts'
import { buildServer, type ServerDeps } from '../src/http/server.ts'
import { clientSchema, type OpenApiDocument } from './client-schema.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = 'client/src/schema.ts'

/** The source of client/src/schema.ts, formatted. */
export async function generateClientSchema(): Promise<string> {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const formatted = spawnSync(biome, ['format', `--stdin-file-path=${TARGET}`], {
    cwd: ROOT,
    input: clientSchema(await publicDocument()),
    encoding: 'utf8',
  })
  if (formatted.error) throw formatted.error
  if (formatted.status !== 0) throw new Error(formatted.stderr)
  return formatted.stdout
}

async function publicDocument(): Promise<OpenApiDocument> {
  // The routes are registered and described, and nothing is asked of them: what they work with may be missing.
  const deps: Partial<ServerDeps> = {
    limits: HTTP_LIMITS,
    registry: new Registry(),
    log: pino({ enabled: false }),
    random: randomBytes,
    baseUrl: null,
  }
  const app: FastifyInstance = await buildServer(deps as ServerDeps)
  try {
    await app.ready()
    return app.swagger() as unknown as OpenApiDocument
  } finally {
    await app.close()
  }
}

if (import.meta.main) writeFileSync(join(ROOT, TARGET), await generateClientSchema())
