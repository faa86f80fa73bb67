/**
 * Lints the OpenAPI documents that the server answers. Redocly's rules are used as a library: its command line reports
 * usage and looks for updates, and this reads nothing but the documents.
 */
import { createConfig, formatProblems, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core'
import { openApiDocument } from './openapi-document.ts'

/** The strict set without an exception, and what we ask beyond it. */
const RULES: RawUniversalConfig = {
  extends: ['recommended-strict'],
  rules: {
    'operation-description': 'error',
    'operation-singular-tag': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    'path-params-defined': 'error',
    'request-mime-type': { severity: 'error', allowedValues: ['application/json'] },
    'response-mime-type': { severity: 'error', allowedValues: ['application/json'] },
    'component-name-unique': 'error',
  },
}

const DOCUMENTS = ['/openapi.json', '/admin/v1/openapi.json']

const config = await createConfig(RULES)
let problems = 0
for (const path of DOCUMENTS) {
  const source = JSON.stringify(await openApiDocument(path), null, 2)
  const found = await lintFromString({ source, absoluteRef: path, config })
  problems += found.length
  formatProblems(found, { format: 'codeframe', totals: { errors: 0, warnings: 0, ignored: 0 }, version: '' })
}
process.stdout.write(`${DOCUMENTS.length} OpenAPI documents, ${problems} problems\n`)
if (problems > 0) process.exitCode = 1
