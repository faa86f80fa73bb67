import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

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

test('the README leads to every document, and decisions have numbers of their own', () => {
  const readme = read('README.md')
  const guides = DOCUMENTS.filter((path) => /^docs\/[^/]+\.md$/.test(path))
  expect(guides.filter((path) => !readme.includes(`(${path})`))).toEqual([])
  const numbers = globSync('*.md', { cwd: join(ROOT, 'docs/adr') }).map((name) => name.slice(0, 4))
  expect(numbers.length).toBe(new Set(numbers).size)
})
