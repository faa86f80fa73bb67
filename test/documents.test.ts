import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { processRegistry } from '../src/http/metrics.ts'

const ROOT = join(import.meta.dirname, '..')
const DOCUMENTS = [...globSync('*.md', { cwd: ROOT }), ...globSync('docs/**/*.md', { cwd: ROOT })]

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** Without code, in which brackets mean something else. */
const prose = (path: string) => read(path).replace(/^```.*?^```$/gms, '')

/** Headings as the anchors that they are linked by. */
function anchors(path: string): string[] {
  return [...prose(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test.each(DOCUMENTS)('%s: every link leads somewhere', (path) => {
  const links = [...prose(path).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  const dead = links.filter(([, file, anchor]) => {
    const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file!))
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchors(target).includes(anchor)
  })
  expect(dead.map(([link]) => link)).toEqual([])
})

test('the README leads to every document, and the list of decisions to each, which has a number of its own', () => {
  const readme = read('README.md')
  const guides = DOCUMENTS.filter((path) => /^docs\/(guides\/)?[^/]+\.md$/.test(path))
  expect(guides.filter((path) => !readme.includes(`(${path})`))).toEqual([])
  const decisions = globSync('0*.md', { cwd: join(ROOT, 'docs/adr') }).sort()
  expect(new Set(decisions.map((name) => name.slice(0, 4))).size).toBe(decisions.length)
  const headings = decisions.map((name) => read(`docs/adr/${name}`).split('\n')[0]!.slice(2))
  const list = decisions.map((name, index) => `- [${headings[index]}](${name})`)
  expect(read('docs/adr/README.md').match(/^- .+$/gm)).toEqual(list)
})

/** Decisions and measurements are of their time: files that they name may be gone. */
const OF_TODAY = DOCUMENTS.filter((path) => path !== 'CHANGELOG.md' && !path.startsWith('docs/adr/'))
const FILES = globSync('{src,test,bench,scripts,examples,client}/**/*.{ts,sql,json}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
})

test.each(OF_TODAY)('%s: every source file and npm script that it names is there', (path) => {
  const named = [...prose(path).matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name!)
  expect(named.filter((name) => !FILES.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
  const { scripts } = JSON.parse(read('package.json'))
  const run = [...read(path).matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name]) => name!)
  expect(run.filter((name) => scripts[name] === undefined)).toEqual([])
})

test('a function that a document places in a file is there', () => {
  const placed = OF_TODAY.flatMap((path) =>
    [...read(path).matchAll(/`(#?\w+)`\s+in\s+`([\w/-]+\.ts)`|`([\w/-]+\.ts)`\s+\(`(#?\w+)`/g)].map(
      ([, before, file, fileBefore, name]) => ({ path, name: before ?? name!, file: file ?? fileBefore! }),
    ),
  )
  expect(placed.length).toBeGreaterThan(20)
  const isThere = ({ name, file }: (typeof placed)[number]) =>
    FILES.some((path) => `/${path}`.endsWith(`/${file}`) && read(path).includes(name))
  expect(placed.filter((one) => !isThere(one))).toEqual([])
})

test('CONTRIBUTING.md says of each dependency, and of no other package, what it is for', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const section = read('CONTRIBUTING.md')
    .split('\n## ')
    .find((text) => text.startsWith('Dependencies'))!
  for (const [index, packages] of [dependencies, devDependencies].entries()) {
    const table = section.split('| --- | --- |')[index + 1]!.split('\n\n')[0]!
    const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) =>
      cell!.slice(1, -1).split('`, `'),
    )
    expect(named.sort()).toEqual(Object.keys(packages).sort())
  }
})

test('ARCHITECTURE.md is two pages, with at most 30 words for the message path and 40 in all', () => {
  const page = read('docs/ARCHITECTURE.md')
  expect(page.split('\n').length).toBeLessThanOrEqual(165)
  const words = page.split('\n## Words\n')[1]!
  const [path, others] = words.split(/^\| word \| means \|\n\| --- \| --- \|\n/m).slice(1)
  const named = (table: string) =>
    [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
  expect(named(path!).length).toBeLessThanOrEqual(30)
  expect(named(path! + others!).length).toBeLessThanOrEqual(40)
})

test('docs/operations.md explains log lines that there are, and every metric', () => {
  const page = read('docs/operations.md')
  const source = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  const table = page.split('| the log says |')[1]!.split('\n\n')[0]!
  // N stands for a number.
  const parts = [...table.matchAll(/^\| `([^`]+)` \|/gm)].flatMap(([, line]) => line!.split(' N '))
  expect(parts.length).toBeGreaterThan(5)
  expect(parts.filter((text) => !source.includes(text))).toEqual([])
  const metricsIn = (text: string) => new Set(text.match(/\b(?:aldis|nodejs|process)_\w+/g))
  // Those of the process come from prom-client; the registry says which are left.
  const ofProcess = processRegistry('0').getMetricsAsArray()
  const made = [...source.match(/\baldis_\w+/g)!, ...ofProcess.map(({ name }) => name)]
  expect([...metricsIn(page)].sort()).toEqual([...new Set(made)].sort())
})
