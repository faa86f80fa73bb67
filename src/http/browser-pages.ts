import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** In addition to the headers of every answer. */
const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'browsing-topics=(), camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Answers with a page for people. `policy`: what it may load, as a Content-Security-Policy. */
export function sendPage(reply: FastifyReply, policy: string, html: string): FastifyReply {
  const headers = { ...HEADERS, 'content-security-policy': policy }
  return reply.headers(headers).type('text/html; charset=utf-8').send(html)
}

/** The answer when the page has not been built. */
export function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The pages for browsers are not built. To build them, run: npm run build:console\n')
}

interface Stored {
  readonly bytes: Buffer
  readonly etag: string
}

interface BuiltFile {
  readonly type: string
  readonly plain: Stored
  /** By content coding, the smallest first. */
  readonly packed: readonly (readonly [coding: string, stored: Stored])[]
}

/** The files of one build, by path below its folder. */
type BuiltFiles = ReadonlyMap<string, BuiltFile>

/** Returns them; null when the build has not run. */
export type BuiltFilesSource = () => BuiltFiles | null

const PACKED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}
/** `dist/`, as seen from `src/http/` and from `dist/http/` alike. */
const DIST = new URL('../../dist/', import.meta.url)
/** No build of ours has more. */
const MAX_FILES = 1_000

/** What a build has put into this folder of `dist/`. It is read when first asked for, and stays in memory: up to 7 MB. */
export function builtFiles(folder: string): BuiltFilesSource {
  let files: BuiltFiles | null = null
  return () => {
    files ??= readFiles(fileURLToPath(new URL(folder, DIST)))
    return files
  }
}

function readFiles(root: string): BuiltFiles | null {
  const files = new Map<string, BuiltFile>()
  const paths = new Set(filesBelow(root))
  if (paths.size === 0) return null
  if (paths.size > MAX_FILES) throw new Error(`${root} has more than ${MAX_FILES} files`)
  for (const path of paths) {
    const type = TYPES[extname(path)]
    if (type === undefined) continue
    const packed = PACKED.filter(([, ending]) => paths.has(path + ending))
    files.set(path, {
      type,
      plain: stored(join(root, path)),
      packed: packed.map(([coding, ending]) => [coding, stored(join(root, path + ending))]),
    })
  }
  return files
}

/** Paths with slashes, on every system. */
function filesBelow(root: string): string[] {
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Its name has a hash of its content. */
function stored(path: string): Stored {
  return { bytes: readFileSync(path), etag: `"${basename(path)}"` }
}

const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Answers with a file, compressed as the client accepts it. Its name changes with its content, so it is cached for a year. */
export function sendBuiltFile(request: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  const { 'accept-encoding': accepted = '', 'if-none-match': known = '' } = request.headers
  const [coding, { bytes, etag }] = file.packed.find(([name]) => accepts(accepted, name)) ?? [
    null,
    file.plain,
  ]
  reply.headers({ 'cache-control': IMMUTABLE, etag, vary: 'accept-encoding' })
  if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) return reply.code(304).send()
  if (coding !== null) reply.header('content-encoding', coding)
  return reply.type(file.type).send(bytes)
}

/** Whether an Accept-Encoding (RFC 9110 §12.5.3) names the coding, and not with the quality 0. */
function accepts(accepted: string, coding: string): boolean {
  return accepted.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
