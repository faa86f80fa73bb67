/**
 * A program: an edge runtime in small. `node --experimental-vm-modules edge-runtime.ts worker.ts [baseUrl token plan]`
 * runs a module in a context that has the language and web globals, and nothing of Node's. It serves the `fetch` of the
 * module's default export over HTTP, and prints a line of JSON for all that happens.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { createContext, runInContext, SourceTextModule } from 'node:vm'

/** What every edge runtime has (WinterTC minimum common API), as far as a receiver or a client needs it. */
const context = createContext(
  {
    AbortController,
    AbortSignal,
    DOMException,
    Headers,
    Request,
    Response,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    clearTimeout,
    crypto,
    fetch: strictFetch,
    setTimeout,
  },
  { codeGeneration: { strings: false, wasm: false } },
)

/** As Workers have it: a fetch that is called as a method of something is refused, and so are redirects by 'error'. */
function strictFetch(this: unknown, input: string, init: RequestInit = {}): Promise<Response> {
  if (this !== undefined) throw new TypeError('Illegal invocation')
  if (init.redirect === 'error') throw new TypeError('Invalid redirect value')
  return fetch(input, init)
}

const modules = new Map<string, SourceTextModule>()

function moduleAt(path: string): SourceTextModule {
  const known = modules.get(path)
  if (known !== undefined) return known
  const source = stripTypeScriptTypes(readFileSync(path, 'utf8'))
  const made = new SourceTextModule(source, { context, identifier: path })
  modules.set(path, made)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the module exports
async function load(path: string): Promise<any> {
  const module = moduleAt(path)
  await module.link((specifier, from) => {
    if (!specifier.startsWith('.')) throw new Error(`${specifier}: there is no such module on the edge`)
    return moduleAt(join(dirname(from.identifier), specifier))
  })
  await module.evaluate()
  return module.namespace
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const [worker, baseUrl, token, servicePlanId] = process.argv.slice(2) as [string, ...string[]]
const names = ['process', 'Buffer', 'require', 'global', 'setImmediate', 'fetch']
print({ globals: names.filter((name) => runInContext(`typeof ${name}`, context) !== 'undefined') })

if (baseUrl !== undefined) {
  const { AldisClient } = await load(join(import.meta.dirname, '../../client/src/index.ts'))
  const client = new AldisClient({ baseUrl, token })
  const query = { servicePlanId, status: 'QUEUED' }
  print({ listed: (await client.listMessages(query)).items.length })
  print({ refused: await client.listMessages({ servicePlanId }).catch((error: object) => ({ ...error })) })
}

const { default: handler } = await load(worker)
const env = {
  ALDIS_WEBHOOK_SECRETS: process.env.ALDIS_WEBHOOK_SECRETS ?? '',
  EVENTS: { put: async (key: string, value: string) => print({ key, value: JSON.parse(value) }) },
}
const server = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method = '', url = '', headersDistinct } = incoming
  const headers = Object.entries(headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  const body = method === 'GET' ? null : Buffer.concat(chunks)
  const request = new Request(`http://edge.example${url}`, { method, headers, body })
  const response: Response = await handler.fetch(request, env)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
print({ port: (server.address() as AddressInfo).port })
