/** Writes what client/src has of the customers' API from the OpenAPI document that the server answers. */
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
import { type ClientSources, clientSources, type OpenApiDocument } from './client-schema.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = 'client/src'

/** The generated sources of the client, formatted. */
export async function generateClientSources(): Promise<ClientSources> {
  const sources = clientSources(await publicDocument())
  return {
    'schema.ts': formatted('schema.ts', sources['schema.ts']),
    'operations.ts': formatted('operations.ts', sources['operations.ts']),
  }
}

function formatted(name: keyof ClientSources, source: string): string {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const run = spawnSync(biome, ['format', `--stdin-file-path=${FOLDER}/${name}`], {
    cwd: ROOT,
    input: source,
    encoding: 'utf8',
  })
  if (run.error) throw run.error
  if (run.status !== 0) throw new Error(run.stderr)
  return run.stdout
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

if (import.meta.main) {
  for (const [name, source] of Object.entries(await generateClientSources()))
    writeFileSync(join(ROOT, FOLDER, name), source)
}
