/** Writes what client/src has of the customers' API from the OpenAPI document that the server answers. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ClientSources, clientSources, type OpenApiDocument } from './client-schema.ts'
import { openApiDocument } from './openapi-document.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = 'client/src'

/** The generated sources of the client, formatted. */
export async function generateClientSources(): Promise<ClientSources> {
  const sources = clientSources(await openApiDocument<OpenApiDocument>('/openapi.json'))
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

if (import.meta.main) {
  for (const [name, source] of Object.entries(await generateClientSources()))
    writeFileSync(join(ROOT, FOLDER, name), source)
}
