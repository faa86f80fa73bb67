/** Writes what client/src has of both APIs from the OpenAPI documents that the server answers. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientSources, type OpenApiDocument } from './client-source.ts'
import { openApiDocument } from './openapi-document.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = 'client/src'
/** Comes between two files. */
const NEXT = '// Next file.'

/** The generated files of the client, formatted, by path. */
export async function generateClientSources(): Promise<ReadonlyMap<string, string>> {
  const [customers, operators] = await Promise.all([
    openApiDocument<OpenApiDocument>('/openapi.json'),
    openApiDocument<OpenApiDocument>('/admin/v1/openapi.json'),
  ])
  const { schemas } = customers.components
  return formatted(
    new Map([
      ...clientSources(customers, { prefix: '/v1/', name: 'api' }),
      ...clientSources(operators, { prefix: '/admin/v1/', name: 'admin-api' }, { file: './api.ts', schemas }),
    ]),
  )
}

/** Formatted all at once, because each start of the formatter takes longer than its work. */
function formatted(sources: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const input = [...sources.values()].join(`\n${NEXT}\n`)
  const run = spawnSync(biome, ['format', '--stdin-file-path=client/src/api.ts'], {
    cwd: ROOT,
    input,
    encoding: 'utf8',
  })
  if (run.error) throw run.error
  if (run.status !== 0) throw new Error(run.stderr)
  const texts = run.stdout.split(NEXT)
  return new Map([...sources.keys()].map((path, index) => [join(TARGET, path), `${texts[index]!.trim()}\n`]))
}

if (import.meta.main) {
  const sources = await generateClientSources()
  for (const folder of ['api', 'admin-api'])
    rmSync(join(ROOT, TARGET, folder), { recursive: true, force: true })
  for (const [path, source] of sources) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), source)
  }
}
