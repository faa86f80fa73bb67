import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'

const BUILT = join(ROOT, 'dist', 'console')
const MAX_SCRIPT_BYTES = 260 * 1_024

const files = globSync('**/*', { cwd: BUILT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => ({ name: entry.name, path: join(entry.parentPath, entry.name) }))

test('all JavaScript together, compressed, is within its budget', () => {
  const scripts = files.filter(({ name }) => name.endsWith('.js.gz'))
  expect(scripts.length).toBeGreaterThan(8)
  const bytes = scripts.reduce((sum, { path }) => sum + readFileSync(path).length, 0)
  expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES)
})

test('each group of pages is a chunk, which only its pages load', () => {
  const scripts = files.filter(({ name }) => name.endsWith('.js')).map(({ name }) => name.split('-')[0])
  const page = readFileSync(join(BUILT, 'index.html'), 'utf8')
  for (const group of readdirSync(join(ROOT, 'console', 'src', 'pages'))) {
    expect(scripts.filter((name) => name === group)).toEqual([group])
    expect(page).not.toContain(`assets/${group}-`)
  }
})

/** Names of XML, addresses in texts of errors that libraries throw, and examples (RFC 2606). None is ever fetched. */
const HARMLESS =
  /^https?:\/\/(www\.w3\.org\/|react\.dev\/errors\/|mantine\.dev|([\w-]+\.)?example\.(com|net|org)\b)/

test('nothing built names another host', () => {
  const texts = files.filter(({ name }) => /\.(html|js|css|svg)$/.test(name))
  const named = texts.flatMap(
    ({ path }) => readFileSync(path, 'utf8').match(/(https?:)?\/\/[\w-]+\.[\w./-]+/g) ?? [],
  )
  expect(named.filter((url) => !HARMLESS.test(url))).toEqual([])
})

test('the page has no script and no style of its own', () => {
  const page = readFileSync(join(BUILT, 'index.html'), 'utf8')
  expect(page).toContain('content="__CSP_NONCE__"')
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
})
