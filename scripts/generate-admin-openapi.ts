/**
 * Writes the OpenAPI document of the admin API, which the command line is made of, to src/admin-openapi.json, and what the
 * console makes forms of.
 */
import { writeFileSync } from 'node:fs'
import { CONSOLE_OPERATIONS, consoleOperations } from './console-operations.ts'
import { openApiDocument } from './openapi-document.ts'

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The document as the service answers it, with a line for each path and each component. */
export async function adminOpenApi(): Promise<string> {
  const { paths, components, ...head } = await openApiDocument<Values>('/admin/v1/openapi.json')
  const parts = Object.entries(components!).map(
    ([kind, values]) => `${JSON.stringify(kind)}:${lines(values as Values)}`,
  )
  const rest = JSON.stringify(head).slice(1, -1)
  return `{${rest},\n"paths":${lines(paths as Values)},\n"components":{${parts.join(',\n')}}}\n`
}

function lines(values: Values): string {
  const entries = Object.entries(values).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  return `{\n${entries.join(',\n')}\n}`
}

if (import.meta.main) {
  writeFileSync(new URL('../src/admin-openapi.json', import.meta.url), await adminOpenApi())
  writeFileSync(CONSOLE_OPERATIONS, consoleOperations())
}
