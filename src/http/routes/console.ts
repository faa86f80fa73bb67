import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { type BuiltFilesSource, sendBuiltFile, sendNotBuilt, sendPage } from '../browser-pages.ts'

export interface ConsoleDeps {
  /** `dist/console` */
  readonly files: BuiltFilesSource
  readonly random: (bytes: number) => Buffer
}

const NONCE = '__CSP_NONCE__'
const NONCE_BYTES = 18

/** The console at `/console/`: the files of its build, and for every other path its page, which knows its own routes. */
export function registerConsole(app: FastifyInstance, { files, random }: ConsoleDeps): void {
  app.get('/console', { schema: { hide: true } }, (_request, reply) => reply.redirect('/console/', 308))
  app.get<{ Params: { '*': string } }>('/console/*', { schema: { hide: true } }, (request, reply) => {
    const path = request.params['*']
    if (path.startsWith('assets/')) {
      const file = files()?.get(path)
      if (file === undefined) throw new AppError('NOT_FOUND')
      return sendBuiltFile(request, reply, file)
    }
    const page = files()?.get('index.html')?.plain.bytes.toString()
    if (page === undefined) return sendNotBuilt(reply)
    const nonce = random(NONCE_BYTES).toString('base64')
    return sendPage(reply, policyWith(nonce), page.replaceAll(NONCE, nonce))
  })
}

/** No script, style or request of another origin. The kit makes style elements, which need the nonce. */
function policyWith(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  )
}
