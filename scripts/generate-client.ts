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
  const sources = new Map<string, string>()
  for (const [name, prefix, document] of [
    ['api.ts', '/v1/', '/openapi.json'],
    ['admin-api.ts', '/admin/v1/', '/admin/v1/openapi.json'],
  ] as const) {
    const path = `client/src/${name}`
    const source = clientSource(await openApiDocument<OpenApiDocument>(document), prefix)
    sources.set(path, formatted(path, source))
  }
  return sources
}

function formatted(path: string, input: string): string {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const run = spawnSync(biome, ['format', `--stdin-file-path=${path}`], {
    cwd: ROOT,
    input,
    encoding: 'utf8',
  })
  if (run.error) throw run.error
  if (run.status !== 0) throw new Error(run.stderr)
  return run.stdout
}

if (import.meta.main) {
  for (const [path, source] of await generateClientSources()) writeFileSync(join(ROOT, path), source)
}
