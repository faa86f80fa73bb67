import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { blocks } from './scale-tables.ts'

/**
 * `npm run simulate-scale`: prints the tables and charts of docs/scale.md. `-- --write` puts them there, each below the comment
 * with its name.
 */

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, write: { type: 'boolean', default: false } },
})
const docs = join(import.meta.dirname, '../docs')
const path = join(docs, 'scale.md')
let page = readFileSync(path, 'utf8')
for (const [name, text] of Object.entries(
  blocks(readFileSync(join(docs, 'sizing.md'), 'utf8'), Number(values.seed)),
)) {
  const at = `<!-- ${name} -->\n`
  page = page.replace(new RegExp(`${at}(?:.+\n)*`), () => `${at}${text}\n`)
  process.stdout.write(`${at}${text}\n\n`)
}
if (values.write) writeFileSync(path, page)
