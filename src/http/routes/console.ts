import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { type BuiltFiles, sendBuiltFile } from '../built-files.ts'

export interface ConsoleDeps {
  /** `dist/console`; null when it was not built. */
  readonly files: BuiltFiles | null
  readonly random: (bytes: number) => Buffer
}

const NONCE = '__CSP_NONCE__'
const NONCE_BYTES = 18
const ASSETS = 'assets/'
const NOT_BUILT =
  'The console is not built. Run `npm run build:console`, and start the service again.\n' +
  'CONSOLE=off turns the console off.\n'

/** Beside the headers of every answer. No script, style or request of another origin; styles of the kit need the nonce. */
const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()',
}

/** The console at `/console/`: the files of its build, and for every other path its page, which knows its own routes. */
export function registerConsole(app: FastifyInstance, { files, random }: ConsoleDeps): void {
  const page = files?.get('index.html')?.plain.bytes.toString()
  app.get('/console', { schema: { hide: true } }, (_request, reply) => reply.redirect('/console/', 308))
  app.get<{ Params: { '*': string } }>('/console/*', { schema: { hide: true } }, (request, reply) => {
    const path = request.params['*']
    const file = path === 'index.html' ? undefined : files?.get(path)
    if (file !== undefined) return sendBuiltFile(request, reply, file)
    if (path.startsWith(ASSETS)) throw new AppError('NOT_FOUND')
    reply.headers(PAGE_HEADERS)
    if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT)
    const nonce = random(NONCE_BYTES).toString('base64')
    return reply
      .header('content-security-policy', policyWith(nonce))
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(NONCE, nonce))
  })
}

function policyWith(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  )
}
