import type { FastifyInstance } from 'fastify'
import type { SessionKind } from '../../domain/credentials.ts'
import { AppError } from '../../errors.ts'
import { type BuiltFilesSource, sendBuiltFile, sendNotBuilt, sendPage } from '../browser-pages.ts'

export interface DocsDeps {
  /** `dist/docs` */
  readonly files: BuiltFilesSource
  /** Whose API this listener serves. */
  readonly kinds: readonly SessionKind[]
}

/** Where each document is, and the page that shows it. */
const DOCUMENTS = {
  customer: { path: '/docs', document: '/openapi.json', title: 'Aldis API' },
  operator: { path: '/docs/admin', document: '/admin/v1/openapi.json', title: 'Aldis admin API' },
} as const satisfies Record<SessionKind, object>

/** The renderer makes style elements and attributes, so this page, and no other, allows them inline. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Of Scalar's API reference. Everything that would leave this origin is off. */
const SETTINGS = {
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
  // Example requests are for a client that everybody has.
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'direct',
}

/** The API reference at `/docs` and `/docs/admin`: the documents of the API, shown by Scalar. */
export function registerDocs(app: FastifyInstance, { files, kinds }: DocsDeps): void {
  app.get<{ Params: { '*': string } }>('/docs/assets/*', { schema: { hide: true } }, (request, reply) => {
    const file = files()?.get(`assets/${request.params['*']}`)
    if (file === undefined) throw new AppError('NOT_FOUND')
    return sendBuiltFile(request, reply, file)
  })
  for (const kind of kinds) {
    app.get(DOCUMENTS[kind].path, { schema: { hide: true } }, (_request, reply) => {
      const script = files()
        ?.keys()
        .find((path) => path.endsWith('.js'))
      return script === undefined ? sendNotBuilt(reply) : sendPage(reply, POLICY, pageOf(kind, script))
    })
  }
}

function pageOf(kind: SessionKind, script: string): string {
  const { document, title } = DOCUMENTS[kind]
  const settings = JSON.stringify({ ...SETTINGS, url: document }).replaceAll('"', '&quot;')
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
  </head>
  <body>
    <div id="api-reference" data-configuration="${settings}"></div>
    <script src="/docs/${script}"></script>
  </body>
</html>
`
}
