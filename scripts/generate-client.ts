/** Writes what client/src has of both APIs from the OpenAPI documents that the server answers. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientSource, type OpenApiDocument } from './client-source.ts'
import { openApiDocument } from './openapi-document.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The generated files of the client, formatted, by path. */
export async function generateClientSources(): Promise<ReadonlyMap<string, string>> {
  const [customers, operators] = await Promise.all([
    openApiDocument<OpenApiDocument>('/openapi.json'),
    openApiDocument<OpenApiDocument>('/admin/v1/openapi.json'),
  ])
  const { schemas } = customers.components
  return new Map([
    formatted('client/src/api.ts', clientSource(customers, '/v1/')),
    formatted(
      'client/src/admin-api.ts',
      clientSource(operators, '/admin/v1/', { file: './api.ts', schemas }),
    ),
  ])
}

function formatted(path: string, input: string): [path: string, source: string] {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const run = spawnSync(biome, ['format', `--stdin-file-path=${path}`], {
    cwd: ROOT,
    input,
    encoding: 'utf8',
  })
  if (run.error) throw run.error
  if (run.status !== 0) throw new Error(run.stderr)
  return [path, run.stdout]
}

if (import.meta.main) {
  for (const [path, source] of await generateClientSources()) writeFileSync(join(ROOT, path), source)
}
