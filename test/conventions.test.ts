import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What holds the shape of the project (docs/ARCHITECTURE.md). A rule with an exception names it here. */

const ROOT = join(import.meta.dirname, '..')

interface Source {
  readonly path: string
  readonly text: string
}

function sources(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return { path: relative(ROOT, path), text: readFileSync(path, 'utf8') }
    })
}

const SRC = sources('src')
const TESTS = sources('test')
const CLIENT = sources('client/src')
const CONSOLE = sources('console/src')
const EXAMPLES = sources('examples')
const ALL = [...SRC, ...CLIENT, ...CONSOLE, ...EXAMPLES, ...TESTS, ...sources('bench'), ...sources('scripts')]

/** The code without comments, so that prose may name what code may not use. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

/** The files of the repository that a file imports, type-only imports included. */
function imports({ path, text }: Source): string[] {
  const targets = code(text).matchAll(/(?:\bfrom|\bimport\(?)\s*'(\.[^']+)'/g)
  return [...targets].map(([, target]) => join(path, '..', target!))
}

function offenders(files: readonly Source[], pattern: RegExp): string[] {
  return files.filter(({ text }) => pattern.test(code(text))).map(({ path }) => path)
}

/** Layer -> layers it may import. A folder of src is a layer; so is each file at its root. */
const LAYERS: Record<string, readonly string[]> = {
  collections: [],
  slices: ['collections'],
  errors: [],
  histogram: [],
  'event-loop-lag': [],
  'database-url': [],
  domain: ['collections', 'errors'],
  smpp: ['collections'],
  log: [],
  'config-values': ['domain', 'database-url'],
  config: ['config-values', 'database-url'],
  postgres: [],
  store: ['domain', 'collections', 'slices', 'database-url'],
  outbound: ['domain', 'collections', 'event-loop-lag'],
  simulator: ['smpp', 'domain', 'collections'],
  operations: ['store', 'domain', 'collections', 'slices', 'errors', 'log'],
  services: [
    'operations',
    'store',
    'outbound',
    'simulator',
    'smpp',
    'domain',
    'collections',
    'slices',
    'log',
    'histogram',
  ],
  http: ['operations', 'store', 'domain', 'collections', 'slices', 'errors', 'event-loop-lag', 'histogram'],
  app: ['http', 'services', 'operations', 'store', 'outbound', 'domain'],
  commands: ['app', 'config', 'database-url', 'log', 'postgres', 'simulator', 'store', 'domain'],
  main: ['commands'],
}

function layerOf(path: string): string {
  return path.split('/')[1]!.replace(/\.ts$/, '')
}

/** Folder of services -> those it may import. */
const ROOMS: Record<string, readonly string[]> = {
  loops: [],
  node: ['loops'],
  quality: ['loops'],
  limits: ['loops'],
  statistics: ['loops'],
  links: ['loops', 'node'],
  sandbox: ['loops'],
  journal: ['loops', 'node'],
  messages: ['loops', 'journal'],
  receiving: ['loops', 'messages', 'node'],
  webhooks: ['loops', 'messages', 'node'],
  sending: ['loops', 'links', 'quality', 'messages', 'node'],
  tracing: [],
  upkeep: ['sending', 'webhooks', 'receiving', 'links', 'messages', 'quality', 'node', 'loops'],
}

/** Null outside services. */
function roomOf(path: string): string | null {
  return layerOf(path) === 'services' ? path.split('/')[2]! : null
}

/** Imports of files of `place` that its rule does not allow, and places that the rule allows and none of them imports. */
function disagreements(
  sources: readonly Source[],
  place: string,
  rules: Readonly<Record<string, readonly string[]>>,
  placeOf: (path: string) => string | null,
): string[] {
  const allowed = rules[place]!
  const found = new Set<string>()
  const wrong: string[] = []
  for (const source of sources)
    for (const imported of imports(source)) {
      const other = placeOf(imported)
      if (other === null || other === place) continue
      found.add(other)
      if (!allowed.includes(other)) wrong.push(`${source.path} -> ${imported}`)
    }
  return [...wrong, ...allowed.filter((other) => !found.has(other)).map((other) => `never -> ${other}`)]
}

/** Goes through the graph depth first. Each cycle is named once, by the way around it. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const finished = new Set<string>()
  const way: string[] = []
  const visit = (path: string) => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    if (finished.has(path) || way.includes(path)) return
    way.push(path)
    for (const imported of graph.get(path) ?? []) visit(imported)
    way.pop()
    finished.add(path)
  }
  for (const path of graph.keys()) visit(path)
  return found
}

describe('imports go one way', () => {
  const seen = new Set(SRC.map(({ path }) => layerOf(path)))

  it('services have no file outside their folders', () => {
    const services = SRC.filter(({ path }) => layerOf(path) === 'services')
    expect(services.filter(({ path }) => ROOMS[roomOf(path)!] === undefined).map(({ path }) => path)).toEqual(
      [],
    )
  })

  it.each(Object.keys(ROOMS))('services/%s', (room) => {
    const sources = SRC.filter(({ path }) => path.startsWith(`src/services/${room}/`))
    expect(disagreements(sources, room, ROOMS, roomOf)).toEqual([])
  })

  it('knows every layer', () => {
    expect([...seen].filter((layer) => LAYERS[layer] === undefined)).toEqual([])
  })

  it.each([...seen].sort())('%s', (layer) => {
    const sources = SRC.filter(({ path }) => layerOf(path) === layer)
    expect(disagreements(sources, layer, LAYERS, layerOf)).toEqual([])
  })

  it('no file imports itself by way of others', () => {
    const graph = new Map(ALL.map((source) => [source.path, imports(source)]))
    expect(new Set([...graph.values()].flat()).size).toBeGreaterThan(600)
    expect(cycles(graph)).toEqual([])
  })

  it('commands use the database only to migrate it', () => {
    const commands = SRC.filter(({ path }) => path.startsWith('src/commands/'))
    expect(offenders(commands, /store\/(?!migrate\.ts)/)).toEqual([])
  })
})

describe('the client stands alone', () => {
  /** Packages too. */
  const allImports = (source: Source) => [
    ...imports(source),
    ...[...code(source.text).matchAll(/(?:\bfrom|\bimport\(?)\s*'([\w@][\w@./:-]*)'/g)].map(
      ([, name]) => name!,
    ),
  ]

  it('it imports nothing but itself', () => {
    expect(CLIENT.flatMap(allImports).filter((target) => !target.startsWith('client/src/'))).toEqual([])
    expect(CLIENT.flatMap(allImports)).toContain('client/src/api.ts')
  })

  it('it uses nothing that is only in Node', () => {
    expect(offenders(CLIENT, /\b(process|Buffer|require|__dirname|setImmediate|global)\b/)).toEqual([])
  })

  it('examples import it, and what Node has', () => {
    const targets = EXAMPLES.flatMap(allImports)
    expect(targets).toContain('client/src/index.ts')
    expect(targets.filter((target) => !/^(node:.+|client\/src\/index\.ts)$/.test(target))).toEqual([])
  })

  it('the service does without both', () => {
    expect(SRC.flatMap(allImports).filter((target) => /^(client|examples)\//.test(target))).toEqual([])
  })
})

describe('the console is a client of the HTTP API', () => {
  const SHARED = ['kit', 'api', 'client']
  const PLACES: Record<string, readonly string[]> = {
    api: ['client'],
    kit: ['api', 'client'],
    shell: SHARED,
    pages: ['shell', ...SHARED],
    root: ['pages', 'shell', ...SHARED],
  }
  /** A file of another page group, or outside both, is a place that nobody may import. */
  const placeOf = (path: string, from: string) => {
    if (path.startsWith('client/src/')) return 'client'
    const [, group] = /^console\/src\/(pages\/\w+)\//.exec(path) ?? []
    if (group !== undefined && from.startsWith('console/src/pages/') && !from.includes(`/${group}/`))
      return path
    const folder = /^console\/src\/(?:(api|kit|shell|pages)\/)?/.exec(path)
    return folder === null ? path : (folder[1] ?? 'root')
  }

  it('it imports itself, one way, and the client', () => {
    expect(CONSOLE.length).toBeGreaterThan(40)
    const wrong = CONSOLE.flatMap(({ path, text }) => {
      const place = placeOf(path, path)
      return imports({ path, text })
        .filter((target) => ![place, ...PLACES[place]!].includes(placeOf(target, path)))
        .map((target) => `${path} -> ${target}`)
    })
    expect(wrong).toEqual([])
  })

  it('it does without components for which the browser has an element, or which position themselves: 45 KB', () => {
    const floating =
      /\b(Autocomplete|Combobox|Drawer|HoverCard|Menu|Modal|MultiSelect|Popover|ScrollArea|Select|TagsInput|Tooltip)\b/
    const plain =
      /\b(Accordion|Checkbox|List|NavLink|PasswordInput|Progress|Radio|SegmentedControl|Switch|Table)\b/
    const mantine = /import \{([^}]*)\} from '@mantine\/core'/g
    const named = CONSOLE.filter(({ text }) =>
      [...text.matchAll(mantine)].some(([, names]) => floating.test(names!) || plain.test(names!)),
    )
    expect(named.map(({ path }) => path)).toEqual([])
  })

  it('it names no other host', () => {
    expect(
      offenders(CONSOLE, /https?:\/\/(?!localhost:9000|sms\.example|www\.example|example|hooks\.example)/),
    ).toEqual([])
  })
})

describe('everything has its place', () => {
  it('SQL is in store/', () => {
    const elsewhere = SRC.filter(({ path }) => !path.startsWith('src/store/'))
    expect(
      offenders(elsewhere, /\b(insert into|delete from|update \w+ set|select [^'\n]+ from [a-z_]+)\b/),
    ).toEqual([])
  })

  it('a column has a camelCase name outside SQL', () => {
    const layers = SRC.filter(({ path }) => /^src\/(store|operations|services|http)\//.test(path))
    // Fields of a row; `query_timeout` is an option of pg.
    expect(offenders(layers, /(?:readonly |<\{ )(?!query_timeout)[a-z]+_\w+\??: /)).toEqual([])
    // Columns that a statement takes as JSON: a name, then a type.
    expect(offenders(layers, /json_to_recordset\(\$\d\) as \w+ \((?:[^)]*[\s,])?[a-z]+_\w+ [a-z]/)).toEqual(
      [],
    )
  })

  it('main.ts imports nothing before it has seen that Node.js is new enough', () => {
    const main = SRC.find(({ path }) => path === 'src/main.ts')!
    expect(code(main.text)).not.toMatch(/^import\b/m)
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(`>=${/OLDEST_NODE = (\d+)/.exec(main.text)?.[1]}`).toBe(engines.node)
  })

  it('the environment is read in config.ts', () => {
    expect(offenders(SRC, /process\.env/)).toEqual(['src/config.ts'])
  })

  it('each kind of socket has one file', () => {
    const allowed = [
      'src/app/http.ts', // the type of the listener's address
      'src/domain/ip-addresses.ts', // isIP is pure
      'src/commands/listen.ts', // the integrator's own receiver
      'src/commands/running.ts', // looks whether a port is free
      'src/outbound/connector.ts',
      'src/postgres/embedded-server.ts', // looks for a free port
      'src/smpp/connection.ts',
      'src/smpp/listener.ts',
      'src/smpp/tls-checks.ts', // whose certificates are trusted; no socket
    ]
    const found = offenders(SRC, /from 'node:(net|tls|dgram)'/)
    expect(found).toContain('src/smpp/connection.ts')
    expect(found.filter((path) => !allowed.includes(path))).toEqual([])
    expect(offenders(SRC, /from 'node:dns(\/promises)?'/)).toEqual(['src/outbound/resolver.ts'])
  })

  it('pure folders have no clock, no random, no I/O', () => {
    const impure = ['src/smpp/connection.ts', 'src/smpp/listener.ts', 'src/smpp/tls-checks.ts']
    const pure = SRC.filter(
      ({ path }) => /^src\/(domain|collections|smpp)\//.test(path) && !impure.includes(path),
    )
    expect(pure.length).toBeGreaterThan(40)
    expect(
      offenders(
        pure,
        /\b(Date\.now|performance\.now|Math\.random|randomBytes|randomUUID|new Date\(\))|set(Timeout|Interval|Immediate)\(/,
      ),
    ).toEqual([])
    expect(
      offenders(pure, /from 'node:(fs|child_process|http|https|net|tls|dns|worker_threads|timers)/),
    ).toEqual([])
  })

  it('nothing only forwards', () => {
    expect(offenders(SRC, /^export (type )?(\*|\{[^}]*\}) from/m)).toEqual([])
    // A function that passes its parameters on to another one.
    expect(
      offenders(
        SRC,
        /^export (?:async )?function \w+(?:<.*>)?\((\w+)(?:: [^,()]+)?\)(?:: .+)? \{\n {2}(?:return |await )*\w+\(\1\)\n\}/m,
      ),
    ).toEqual([])
  })

  it('files are named for what they hold', () => {
    const vague = /^(utils?|common|helpers?|types?|lib|interfaces?|misc|shared)\.tsx?$/
    expect(ALL.filter(({ path }) => vague.test(basename(path)))).toEqual([])
  })
})

describe('size', () => {
  const lines = ALL.filter(({ path }) => !path.endsWith('.test.ts')).map(({ path, text }) => ({
    path,
    lines: text.split('\n').length - 1,
  }))

  it('no file but a test has more than 400 lines', () => {
    expect(lines.filter((file) => file.lines > 400)).toEqual([])
  })
})

describe('tests', () => {
  const tests = TESTS.filter(({ path }) => path.endsWith('.test.ts') && !path.endsWith('conventions.test.ts'))

  it('none is skipped, focused or left for later', () => {
    expect(offenders(tests, /\b(it|test|describe)\.(skip|only|todo|fails)\b/)).toEqual([])
    // Where the machine makes no network namespace, which the file then says.
    expect(offenders(tests, /\.(skipIf|runIf)\b|\bskip\(/)).toEqual(['test/outbound/canaries.test.ts'])
  })

  it('none sleeps', () => {
    expect(offenders(tests, /setTimeout\(\s*(resolve|done|wake)\b|timers\/promises/)).toEqual([])
  })

  it('wait by expect.poll or eventually(): vi.waitFor gives up after a second', () => {
    expect(offenders(tests, /\bvi\.waitFor\(/)).toEqual([])
  })

  it('mock nothing that is there', () => {
    expect(offenders(tests, /\bvi\.(mock|doMock|hoisted)\(/)).toEqual([])
  })
})

describe('a comment cites only what is in the repository, or public', () => {
  const comments = ALL.map(({ path, text }) => ({
    path,
    text: (text.match(/\/\*[\s\S]*?\*\/|(?<=^|[^:'"`])\/\/.*$/gm) ?? []).join('\n'),
  }))
  const cited = (pattern: RegExp) =>
    comments.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)].map(([, name]) => ({ path, name: name! })),
    )

  it('no paper that is elsewhere', () => {
    const elsewhere = new RegExp(['\\b(spec|des', 'ign) §|\\bdes', 'ign: '].join(''), 'i')
    expect(ALL.filter(({ text }) => elsewhere.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('decisions that there are', () => {
    const numbers = new Set(readdirSync(join(ROOT, 'docs/adr')).map((name) => Number.parseInt(name, 10)))
    const adrs = cited(/\bADR (\d+)/g)
    expect(adrs).not.toEqual([])
    expect(adrs.filter(({ name }) => !numbers.has(Number(name)))).toEqual([])
  })

  it('files that there are', () => {
    const folders = ['docs', 'bench', 'client', 'console', 'deploy']
    const documents = folders.flatMap((folder) => globSync(`${folder}/**/*.md`, { cwd: ROOT }))
    const names = new Set(
      [...ALL.map(({ path }) => path), ...documents, ...readdirSync(ROOT)].map((path) => basename(path)),
    )
    const files = cited(/([\w./-]*\w\.(?:md|tsx?))\b/g)
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter(({ name }) => !names.has(basename(name)))).toEqual([])
  })
})

it('nothing is left undone or silenced', () => {
  const marks = new RegExp(['TO', 'DO|FIX', 'ME|X', 'XX|@ts-(ignore|nocheck)'].join(''))
  expect(ALL.filter(({ text }) => marks.test(text)).map(({ path }) => path)).toEqual([])
})
